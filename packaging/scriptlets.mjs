// The scripts of packages for installation, upgrade and removal, in POSIX sh, for dpkg and for rpm; made from
// packages.mjs. Each part may run twice, and none needs a running systemd, because there is none when an image is made.

const RUNS = '[ -d /run/systemd/system ]';
/** dpkg names no older version: the package was not here before. */
const FIRST = '[ "$1$2" = configure ]';

/** Joins the parts that are strings as lines. Undefined if there is none, so that what contains it is left out, too. */
const lines = (...parts) => parts.filter(part => typeof part === 'string').join('\n') || undefined;
const block = (head, tail, parts) => {
  const inside = lines(...parts);
  return inside && `${head}\n${inside.replace(/^(?=.)/gm, '  ')}\n${tail}`;
};
const when = (condition, ...parts) => block(`if ${condition}; then`, 'fi', parts);
const forEach = (variable, values, ...parts) =>
  values.length > 0 ? block(`for ${variable} in ${values.join(' ')}; do`, 'done', parts) : undefined;
/** A command for some units; undefined if there are none. */
const about = (names, command) => (names.length > 0 ? command.replace('UNITS', names.join(' ')) : undefined);

/** The names of a package's units, by what the scripts do with them. */
function unitsOf({ units = {} }) {
  const all = Object.keys(units);
  const sockets = all.filter(name => name.endsWith('.socket'));
  const services = all.filter(name => !sockets.includes(name));
  const enabled = all.filter(name => units[name].enabled);
  // A socket stops before its service; otherwise a report would start the service again.
  return {
    all,
    services,
    enabled,
    sockets,
    disabled: all.filter(name => !enabled.includes(name)),
    stop: [...sockets, ...services],
  };
}

/**
 * First users, then folders, which belong to them. Folders may fail, because each boot makes them, too, and in an image
 * that is being made there may be no /proc, which systemd-tmpfiles needs. The kernel's limit is set only if systemd
 * runs, from all files that name it, as at boot, so that an administrator's own value stays.
 */
const setUp = ({ sysusers, tmpfiles, sysctl }) =>
  lines(
    sysusers && `systemd-sysusers ${sysusers}`,
    tmpfiles && `systemd-tmpfiles --create ${tmpfiles} || :`,
    sysctl && when(RUNS, `/usr/lib/systemd/systemd-sysctl --prefix=${sysctl} || :`),
  );

/** dpkg's maintainer scripts by name, if they do something. Every Debian has `deb-systemd-*` (init-system-helpers). */
export function debScripts(pack) {
  const { all, services, sockets, enabled, disabled, stop } = unitsOf(pack);
  const { purges = [], written } = pack;
  // A unit that an administrator has disabled stays disabled. The state of an enabled one is not updated: for a masked
  // unit that would record nothing, and a purge would leave its links.
  const enable = [
    'deb-systemd-helper --quiet was-enabled "$unit" && action=enable || action=update-state',
    'deb-systemd-helper "$action" "$unit" >/dev/null || :',
  ];
  const reload = about(all, 'systemctl --system daemon-reload >/dev/null || :');
  const scripts = {
    // Also where dpkg gave up a removal or an upgrade: this package stays then, and what it had stopped runs again.
    postinst: lines(
      setUp(pack),
      forEach('unit', enabled, ...enable),
      forEach('unit', disabled, when('deb-systemd-helper debian-installed "$unit"', ...enable)),
      when(
        RUNS,
        reload,
        when(FIRST, about(enabled, 'deb-systemd-invoke start UNITS >/dev/null || :')),
        when(
          `! ${FIRST}`,
          // Sockets are not restarted, because reports that arrive meanwhile wait in them. After a removal they are
          // started, before their services.
          about(sockets, 'deb-systemd-invoke start UNITS >/dev/null || :'),
          about(services, 'deb-systemd-invoke restart UNITS >/dev/null || :'),
        ),
      ),
    ),
    prerm: when(
      '[ "$1" = remove ]',
      // Records units that an administrator has enabled, so that a purge removes these links, too.
      about(disabled, 'deb-systemd-helper update-state UNITS >/dev/null || :'),
      when(RUNS, about(stop, 'deb-systemd-invoke stop UNITS >/dev/null || :')),
    ),
    postrm: lines(
      when(`[ "$1" = remove ] && ${RUNS}`, reload),
      when(
        '[ "$1" = purge ]',
        about(all, 'deb-systemd-helper purge UNITS >/dev/null || :'),
        // A unit of another package may read the same file, which then stays.
        forEach('file', purges, 'grep -qsF "$file" /usr/lib/systemd/system/beoboard-*.service || rm -f "$file"'),
        written && `rm -rf ${written.join(' ')}`,
      ),
    ),
  };
  return Object.fromEntries(
    Object.entries(scripts)
      .filter(([, text]) => text !== undefined)
      .map(([name, text]) => [name, `#!/bin/sh\nset -e\n${text}\n`]),
  );
}

/**
 * rpm's scriptlets by name. Fedora's macros are written out, because the machine that builds the packages lacks them.
 */
export function rpmScripts(pack) {
  const { all, services, stop } = unitsOf(pack);
  const quietly = command => `${command} >/dev/null 2>&1 || :`;
  const reload = about(all, quietly('systemctl daemon-reload'));
  const ldconfig = pack.library && '/sbin/ldconfig || :';
  const scripts = {
    post: lines(
      setUp(pack),
      ldconfig,
      // The presets of the system decide whether a unit starts at boot; those of EL say no.
      when('[ "$1" -eq 1 ]', about(all, quietly('systemctl --no-reload preset UNITS'))),
      when(RUNS, reload),
    ),
    preun: when(
      '[ "$1" -eq 0 ]',
      about(all, quietly('systemctl --no-reload disable UNITS')),
      when(RUNS, about(stop, quietly('systemctl stop UNITS'))),
    ),
    postun: lines(
      ldconfig,
      when(RUNS, reload, when('[ "$1" -ge 1 ]', about(services, quietly('systemctl try-restart UNITS')))),
    ),
  };
  return Object.fromEntries(Object.entries(scripts).filter(([, text]) => text !== undefined));
}
