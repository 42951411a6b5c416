// What has moved from one package into another: units over an upgrade, as deb and as rpm, and verbs without the package.
//
// @seconds 6
// @rest
// @days 3

import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { lacks } from '../kit/lacking.js';
import { folder, ROOT } from '../kit/places.js';
import { emptyRpms, managed, missing, PACKAGES, type Package } from './emptypackages.js';

t.test('a verb whose file is in another package names that package', async t => {
  const own = folder(t);
  for (const name of ['package.json', 'node_modules', 'build']) symlinkSync(join(ROOT, name), join(own, name));
  const bin = join(own, 'dist', 'bin');
  cpSync(join(ROOT, 'dist', 'bin'), bin, { recursive: true });
  const run = (...argv: string[]) => {
    const { status, stderr } = spawnSync(process.execPath, [join(bin, 'beoboard.cjs'), ...argv], { encoding: 'utf8' });
    return { status, stderr };
  };
  const apart = Object.entries(PACKAGES).flatMap(([name, { files }]) =>
    files.flatMap(([from]) => {
      const [, verb] = /^\{built\}\/program\/dist\/bin\/(\w+)-\*\.cjs$/.exec(from ?? '') ?? [];
      return verb === undefined ? [] : [{ verb, name }];
    }),
  );
  t.same(
    apart.map(({ verb }) => verb),
    ['supermon', 'zoom'],
  );
  for (const { verb, name } of apart) {
    t.ok(PACKAGES.beoboard?.recommends?.includes(name), 'an upgrade of the program brings it');
    t.match(run(verb, '--help'), { status: 0, stderr: '' });
    for (const file of readdirSync(bin)) if (file.startsWith(`${verb}-`)) rmSync(join(bin, file));
    for (const argv of [[verb], ['help', verb]])
      t.match(run(...argv), {
        status: 72,
        stderr: new RegExp(`^beoboard ${argv[0]}: it is in another package; install ${name} \\d+\\.\\d+\\.\\d+\\n$`),
      });
  }
});

const UNITS = 'usr/lib/systemd/system/';
const [SUPERMON, MON] = ['beoboard-supermon.service', 'beoboard-mon.service'] as const;

/** Packages that had what beoboard-supermon has now, as in 0.2.0. */
const program = PACKAGES.beoboard as Package;
const BEFORE: Record<string, Package> = {
  beoboard: {
    ...program,
    units: { ...program.units, [SUPERMON]: { enabled: true } },
    files: [...program.files, [`packaging/systemd/${SUPERMON}`, UNITS]],
  },
  'beoboard-mon': { units: { [MON]: {} }, files: [[`packaging/systemd/${MON}`, UNITS]] },
};

t.test('as debs: what ran goes on, and what was decided stays', { skip: missing }, async t => {
  const { within, at, put, dpkg, asked, enabled, decide, deb } = managed(t);
  put('run/systemd/system/.keep', '');
  put('etc/beoboard/supermon.toml', '');
  dpkg('-i', ...Object.entries(BEFORE).map(([name, pack]) => deb(name, 1, pack)));
  decide('enable', MON);
  const early = within('dpkg', '-i', deb('beoboard-supermon', 2));
  t.match(early.stderr, /would break beoboard/, 'files are not taken from a package that stays');
  t.match(dpkg('-i', deb('beoboard', 2)), /^beoboard: .*in the package beoboard-supermon now$/m, 'it is said');
  t.notMatch(asked().join('\n'), /stop|supermon/, 'what runs is left alone');
  t.notMatch(dpkg('-i', '/beoboard-supermon.deb'), /^beoboard: /m);
  const told = within('dpkg', '-s', 'beoboard-supermon', 'beoboard-mon').stdout;
  t.match(told, /^Package: beoboard-supermon\nStatus: install ok installed$/m);
  t.notMatch(told, /^Package: beoboard-mon\nStatus: install ok installed$/m, 'whose place it takes');
  for (const unit of [SUPERMON, MON]) t.equal(enabled(unit), 'enabled', unit);
  t.equal(asked().at(-1), 'restart supermon mon', 'also what was stopped with its old package');
  dpkg('-P', 'beoboard-supermon');
  t.notOk(existsSync(at('etc/beoboard/supermon.toml')), 'a purge takes its file');
});

t.test('as rpms, too, where presets enable nothing', { skip: missing || lacks('rpm', 'rpm', 'rpmbuild') }, async t => {
  const { system, at, put, asked, enabled, decide } = managed(t);
  put('etc/systemd/system-preset/00-el.preset', 'disable *\n');
  put('run/systemd/system/.keep', '');
  const upgrade = (version: number, packages: Record<string, Package>) => {
    const files = emptyRpms(t, version, packages);
    const { status, stderr } = spawnSync(
      'rpm',
      ['--root', system, '--dbpath', '/var/lib/rpm', '-U', '--nodeps', '--nosignature', ...files],
      { encoding: 'utf8' },
    );
    t.equal(status, 0, stderr);
  };
  mkdirSync(at('var/lib/rpm'));
  upgrade(1, BEFORE);
  t.equal(enabled(SUPERMON), 'disabled');
  for (const unit of [SUPERMON, MON]) decide('enable', unit);
  upgrade(2, { beoboard: program, 'beoboard-supermon': PACKAGES['beoboard-supermon'] as Package });
  for (const unit of [SUPERMON, MON]) {
    t.ok(existsSync(at(join(UNITS, unit))));
    t.equal(enabled(unit), 'enabled', unit);
  }
  t.same(asked().slice(-2), ['restart supermon', 'restart mon'], 'after all that their old packages did');
  t.same(readdirSync(at('run')), ['systemd'], 'what was remembered is gone');
});
