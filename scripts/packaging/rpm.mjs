// The rpm packages for one processor: a spec from the table, and rpmbuild, which only packs the prepared files.

import { lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { MUSL_NOTICE, PACKAGES, PLACES, PROCESSORS, PROJECT } from '../../packaging/packages.mjs';
import { rpmScripts } from '../../packaging/scriptlets.mjs';
import { below, out, root, run, version, work, write } from './common.mjs';
import { compiledIn, modules } from './program.mjs';
import { settle, stage } from './stage.mjs';

// Shared objects, too: rpm looks for needed libraries only in executable files.
const EXECUTABLE = /^\/usr\/s?bin\/|\/(beoboard\.cjs|nhc-beoboard)$|\.so(\.[\d.]+)?$|\.node$/;

/** What rpmbuild would otherwise change in the files, or take from this machine. */
const SETTINGS = {
  debug_package: '%{nil}',
  __os_install_post: '%{nil}',
  _build_id_links: 'none',
  _buildhost: 'localhost',
  _binary_payload: 'w9.gzdio',
  _docdir_fmt: '%%{NAME}',
  use_source_date_epoch_as_buildtime: '1',
  clamp_mtime_to_source_date_epoch: '1',
  source_date_epoch_from_changelog: '0',
};

const called = name => PACKAGES[name].rpm ?? name;

/** The licences of all that is in a package. */
const licences = name => {
  const others = name === 'beoboard' ? [...modules(), ...compiledIn()].map(({ license }) => license) : [];
  return [...new Set([PROJECT.licence, ...others])].join(' AND ');
};

/** What a package does to others: one that gave files away must not stay as it was, and one whose place is taken goes. */
export const relationsOf = ({ splits, replaces }) => [
  ...(splits ? [`Conflicts: ${splits} < %{version}`] : []),
  ...(replaces ? [`Obsoletes: ${replaces} < %{version}`, `Provides: ${replaces} = %{version}`] : []),
];

/** A package within the spec. */
function section(name, files) {
  const pack = PACKAGES[name];
  const { ours = [], same = [], rpm: others = [] } = pack.depends;
  // Scripts ask systemd, but only what has to has it installed: elsewhere it comes first if it comes.
  const scripts = Object.entries(rpmScripts(pack));
  const when = scripts.map(([name]) => name).join(',');
  const systemd = pack.sysusers ? `Requires(${when}): systemd` : `OrderWithRequires(${when}): systemd`;
  const requires = [
    ...same.map(name => `${called(name)}%{?_isa} = %{version}-%{release}`),
    ...ours.map(name => `${called(name)} >= %{version}`),
    ...others,
  ];
  return [
    `%package -n ${called(name)}`,
    `Summary: ${PROJECT.summary}: ${pack.summary}`,
    `License: ${licences(name)}`,
    pack.each ? '' : 'BuildArch: noarch',
    ...requires.map(wanted => `Requires: ${wanted}`),
    ...(pack.recommends ?? []).map(name => `Recommends: ${called(name)}`),
    ...relationsOf(pack),
    pack.sysusers || pack.units ? systemd : '',
    `%description -n ${called(name)}`,
    ...pack.description,
    ...scripts.flatMap(([when, text]) => [`%${when} -n ${called(name)}`, text]),
    `%files -n ${called(name)}`,
    ...files,
    '',
  ]
    .filter(line => line !== '')
    .join('\n');
}

/** Makes the rpms of these packages for a processor. */
export async function rpms(names, processor) {
  const top = work('rpm', processor);
  rmSync(top, { recursive: true, force: true });
  const sections = names.map(name => {
    const into = stage(name, 'rpm', processor);
    const licence = join(into, 'usr', 'share', 'licenses', called(name));
    write(join(licence, 'LICENSE'), readFileSync(join(root, 'LICENSE')));
    if (PACKAGES[name].musl) write(join(licence, 'LICENSE.musl'), MUSL_NOTICE);
    settle(into, EXECUTABLE);
    const folders = PACKAGES[name].files
      .filter(([from]) => from === null)
      .map(([, to]) => `%dir /${to.replace(/\/$/, '')}`);
    // Its own folders, which are removed with it.
    const own = readdirSync(into, { recursive: true })
      .filter(path => lstatSync(join(into, path)).isDirectory())
      .filter(path =>
        /^usr\/(lib\/beoboard|lib\/systemd\/system\/[^/]+|lib\/python[\d.]+\/site-packages\/beoboard|share\/beoboard|share\/(doc|licenses)\/[^/]+)(\/|$)/.test(
          path,
        ),
      )
      .map(path => `%dir /${path}`);
    const files = below(into).map(file => `${file.startsWith('etc/') ? '%config(noreplace) ' : ''}/${file}`);
    return section(name, ['%defattr(-,root,root,-)', ...folders, ...own, ...files]);
  });
  const spec = join(top, 'beoboard.spec');
  const roots = names.map(name => work('rpm', processor, name));
  write(
    spec,
    [
      ...Object.entries(SETTINGS).map(([name, value]) => `%global ${name} ${value}`),
      'Name: beoboard-sources',
      `Version: ${version}`,
      'Release: 1',
      `License: ${PROJECT.licence}`,
      `Summary: ${PROJECT.summary}`,
      '%description',
      'All packages of beoboard.',
      '%install',
      'mkdir -p %{buildroot}',
      ...roots.map(path => `cp -a ${path}/. %{buildroot}/`),
      ...sections,
      '',
    ].join('\n'),
  );
  mkdirSync(join(top, 'made'), { recursive: true });
  await run(
    'rpmbuild',
    [
      ...['-bb', '--quiet', '--target', `${PROCESSORS[processor].rpm}-linux`, '--define', `_topdir ${top}/top`],
      ...['--define', `_rpmdir ${top}/made`, '--define', `_libdir /${PLACES.rpm.lib}`, spec],
    ],
    { env: { ...process.env, HOME: top } }, // without the macros of who builds
  );
  return below(join(top, 'made')).map(path => {
    const file = join(out, basename(path));
    renameSync(join(top, 'made', path), file);
    return file;
  });
}
