// A package for dpkg: control file, maintainer scripts, Debian's other files, and dpkg-deb.

import { createHash } from 'node:crypto';
import { chmodSync, lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BUILD_ONLY, MUSL_NOTICE, PACKAGES, PROJECT } from '../../packaging/packages.mjs';
import { debScripts } from '../../packaging/scriptlets.mjs';
import { below, gzip, out, root, run, version, work, write } from './common.mjs';
import { compiledIn, licenceOf, modules } from './program.mjs';
import { settle, stage } from './stage.mjs';

const EXECUTABLE = /^\/usr\/s?bin\/|\/(beoboard\.cjs|nhc-beoboard)$|^\/DEBIAN\/(post|pre)/;
const date = () => new Date(Number(process.env.SOURCE_DATE_EPOCH) * 1000);

/** The continuation lines of a field in Debian's control files. */
const folded = text => text.trimEnd().replace(/^/gm, ' ').replace(/^ $/gm, ' .');

/** Copyright and licences: ours, musl's if it is linked in, and those of the packages beside the program. */
function copyright(name) {
  const licence = readFileSync(join(root, 'LICENSE'), 'utf8');
  const [, holder] = /^Copyright \(c\) (.*)$/m.exec(licence);
  const paragraphs = [
    `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: beoboard`,
    `Files: *\nCopyright: ${holder}\nLicense: MIT\n${folded(licence)}`,
  ];
  if (PACKAGES[name].musl) paragraphs.push(`Comment:\n${folded(MUSL_NOTICE)}`);
  if (name === 'beoboard')
    for (const { path, license, name, version } of [...modules(), ...compiledIn()]) {
      const files = BUILD_ONLY.includes(name) ? 'build/beoboard.node' : `${path}/*`;
      paragraphs.push(
        `Files: usr/lib/beoboard/${files}\nCopyright: the authors of ${name} ${version}; see LICENSE there\n` +
          `License: ${license}-${name.replace(/[^\w.-]/g, '')}\n${folded(COMMON[license] ?? textOf(path))}`,
      );
    }
  return `${paragraphs.join('\n\n')}\n`;
}
/** Licences that every Debian system contains, and that a package refers to, by their SPDX names. */
const COMMON = {
  'Apache-2.0':
    'The Apache License, version 2.0, whose text is in /usr/share/common-licenses/Apache-2.0 on Debian systems.',
};
const textOf = path => readFileSync(licenceOf(path), 'utf8').replaceAll('\r', '');

const changelog = () =>
  [
    `beoboard (${version}) unstable; urgency=medium\n`,
    '  * What changed stands in CHANGELOG.md of the sources.\n',
    ` -- ${PROJECT.maintainer}  ${date().toUTCString().replace('GMT', '+0000')}\n`,
  ].join('\n');

/** Overrides for lintian: from the one list those for this package or for all, each after its reason. */
function overrides(name) {
  const [, ...paragraphs] = readFileSync(join(root, 'packaging', 'lintian-overrides'), 'utf8')
    .trimEnd()
    .split(/\n\n+/);
  return paragraphs
    .map(paragraph => paragraph.split('\n').map(line => line.replace(/^\*:/, `${name}:`)))
    .map(lines => lines.filter(line => line.startsWith('#') || line.startsWith(`${name}:`)))
    .filter(lines => lines.some(line => !line.startsWith('#')))
    .map(lines => `${lines.join('\n')}\n`)
    .join('\n');
}

/**
 * The fields about other packages, for a version of this one. dpkg removes a package whose place is taken; one that gave
 * files away must not stay as it was.
 */
export function relationsOf(name, version) {
  const { depends, recommends = [], splits, replaces } = PACKAGES[name];
  const { ours = [], same = [], deb: others = [] } = depends;
  const older = splits && `${splits} (<< ${version})`;
  const list = words => words.filter(word => word !== undefined).join(', ') || undefined;
  return {
    Depends: list([
      ...same.map(name => `${name} (= ${version})`),
      ...ours.map(name => `${name} (>= ${version})`),
      ...others,
    ]),
    Recommends: list(recommends),
    Conflicts: replaces,
    Breaks: older,
    Replaces: list([replaces, older]),
    Provides: replaces,
  };
}

/** The fields of the control file. */
function fieldsOf(name, processor, installedKib) {
  const pack = PACKAGES[name];
  return {
    Package: name,
    Source: name === 'beoboard' ? undefined : 'beoboard',
    Version: version,
    Architecture: pack.each ? processor : 'all',
    'Multi-Arch':
      { libs: 'same', libdevel: 'same' }[pack.section] ?? (pack.each || pack.python ? undefined : 'foreign'),
    Maintainer: PROJECT.maintainer,
    'Installed-Size': String(installedKib),
    ...relationsOf(name, version),
    Section: pack.section ?? 'admin',
    Priority: 'optional',
    Description: `${PROJECT.summary}: ${pack.summary}\n${folded(pack.description.join('\n'))}`,
  };
}

const md5 = file => createHash('md5').update(readFileSync(file)).digest('hex');

/** The files in DEBIAN/: name → text; empty: it is left out. */
function controlFiles(name, into, files, fields) {
  const pack = PACKAGES[name];
  const lines = texts => texts.map(text => `${text}\n`).join('');
  const set = Object.entries(fields).filter(([, value]) => value !== undefined);
  const plain = files.filter(file => lstatSync(join(into, file)).isFile());
  return {
    control: lines(set.map(([field, value]) => `${field}: ${value}`)),
    md5sums: lines(plain.map(file => `${md5(join(into, file))}  ${file}`)),
    conffiles: lines(files.filter(file => file.startsWith('etc/')).map(file => `/${file}`)),
    ...(pack.library && {
      shlibs: `${name.replace(/\d+$/, '')} ${/\d+$/.exec(name)[0]} ${name} (>= ${version})\n`,
      triggers: 'activate-noawait ldconfig\n',
    }),
    ...debScripts(pack),
  };
}

/** Makes the deb of a package for a processor, in the output folder. */
export async function deb(name, processor) {
  const into = stage(name, 'deb', processor);
  const doc = join(into, 'usr', 'share', 'doc', name);
  write(join(doc, 'copyright'), copyright(name));
  write(join(doc, 'changelog.gz'), gzip(changelog()));
  const own = overrides(name);
  if (own !== '') write(join(into, 'usr', 'share', 'lintian', 'overrides', name), own);

  const files = below(into);
  const bytes = files.reduce((sum, file) => sum + lstatSync(join(into, file)).size, 0);
  const fields = fieldsOf(name, processor, Math.ceil(bytes / 1024) + files.length);
  for (const [file, text] of Object.entries(controlFiles(name, into, files, fields)))
    if (text !== '') write(join(into, 'DEBIAN', file), text);
  settle(into, EXECUTABLE);
  chmodSync(work('deb', processor), 0o755);
  // One thread: with more, xz makes blocks by their number.
  const file = join(out, `${name}_${version}_${fields.Architecture}.deb`);
  await run('dpkg-deb', ['--root-owner-group', '-Zxz', '--threads-max=1', '--build', into, file]);
  return file;
}
