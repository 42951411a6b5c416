// The scripts of packages for installation, upgrade and removal, in POSIX sh, for dpkg and for rpm; made from
// packages.mjs. Each part may run twice, and none needs a running systemd, because there is none when an image is made.

import { PLACES } from './packages.mjs';

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

/**
 * The names of a package's units, by what the scripts do with them. Files are enabled and disabled, and a template then
 * means its instance (DefaultInstance=); what runs are instances, and a pattern means all that are loaded.
 */
function unitsOf({ units = {} }) {
  const all = Object.keys(units);
  const sockets = all.filter(name => name.endsWith('.socket'));
  const templates = all.filter(name => name.includes('@.'));
  const enabled = all.filter(name => units[name].enabled);
  const instance = name => name.replace('@.', `@${units[name].instance}.`);
  const loaded = byTemplate => all.filter(name => !sockets.includes(name)).map(name => byTemplate(name) ?? name);
  const pattern = name => (templates.includes(name) ? `'${name.replace('@.', '@*.')}'` : undefined);
  const running = loaded(pattern);
  // deb-systemd-invoke asks whether each is enabled, and of a pattern nobody can say that.
  // An enabled instance may be new, and each is restarted once.
  const each = name => {
    const own = enabled.includes(name) ? `echo ${instance(name)}; ` : '';
    return (
      pattern(name) &&
      `$({ ${own}systemctl --plain --no-legend list-units ${pattern(name)}; } | sed 's/ .*//' | sort -u)`
    );
  };
  return {
    all,
    enabled,
    sockets,
    templates,
    disabled: all.filter(name => !enabled.includes(name)),
    start: enabled.map(instance),
    restart: loaded(each),
    tryRestart: running,
    // A socket stops before its service; otherwise a report would start the service again.
    stop: [...sockets, ...running],
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

const MASTER = 'packaging/dropins/master.conf';
/** Whether a package makes this machine a master, whose senders have a user of their own. */
const makesMaster = ({ files = [] }) => files.some(([from]) => from === MASTER);
const hasSender = ({ units = {} }) => Object.keys(units).some(name => /^beoboard-send[.-]/.test(name));

/** Whether units of a package were those of another one. */
const takesOver = ({ splits, replaces }) => splits !== undefined || replaces !== undefined;

const BLANKS = '[ \t]*';

/**
 * The master's sender cannot read a key file of beoboard. The file that its options name is copied for it, and they
 * then name the copy. Where somebody else than root could put a link in place of the file, an administrator has to. Of
 * two packages that come at once the sender's may be set up before the other has made the user, and then leaves it to that.
 */
const TAKE_KEY = String.raw`options=/etc/beoboard/send.toml own=/etc/beoboard/send.key
line="s|^\(${BLANKS}[\"']\{0,1\}key-file[\"']\{0,1\}${BLANKS}=${BLANKS}\)[\"']\([^\"']*\)[\"']"
if [ -e /usr/lib/systemd/system/beoboard-send.service.d/master.conf ] && [ -f $options ] &&
  id beoboard-send >/dev/null 2>&1; then
  key=$(sed -n "$line.*|\2|p" $options)
  case $key in
    '' | /*) ;;
    *) key=/$key ;;
  esac
  # Whose a link is says nothing of the file behind it.
  if [ "$key" = $own ] && [ -L $own ]; then key=$(readlink -f $own); fi
  if [ -f "$key" ] && [ "$(stat -L -c %U "$key")" = beoboard ]; then
    if [ "$key" = $own ]; then
      chown -h beoboard-send:beoboard-send $own
      echo "beoboard: the sender of a master is the user beoboard-send: $own belongs to it now"
    elif [ ! -L "$key" ] && [ "$(stat -c %U "$(dirname "$key")")" = root ] &&
      { [ ! -e $own ] || [ "$(stat -c %U $own)" = beoboard-send ]; }; then
      install -m 600 -o beoboard-send -g beoboard-send "$key" $own
      sed -i --follow-symlinks "$line|\1\"$own\"|" $options
      echo "beoboard: the sender of a master is the user beoboard-send: copied $key to $own, and changed key-file in $options"
    else
      echo "beoboard: the sender of a master is the user beoboard-send, and cannot read $key: copy it to $own (install -m 600 -o beoboard-send), and change key-file in $options"
    fi
  fi
fi`;
/** Elsewhere a sender is the user beoboard. */
const GIVE_KEY_BACK = `own=/etc/beoboard/send.key
if [ -f $own ] && [ "$(stat -c %U $own)" = beoboard-send ]; then
  chown -h beoboard:beoboard $own
  echo "beoboard: this is no master any more, and its sender the user beoboard: $own belongs to it again"
fi`;
/** The secrets that the options of the relay name; a path is meant from /, as by its unit. */
const RELAYS_FILES = String.raw`sed -n "s#^${BLANKS}[\"']\{0,1\}\(key-file\|nats-\(login\|creds\|nkey\|cert-key\)\)[\"']\{0,1\}${BLANKS}=${BLANKS}[\"']/*\([^\"']*\)[\"'].*#/\3#p" /etc/beoboard/relay.toml`;
const OF_RELAY = 'User=beoboard-relay';
/**
 * The relay cannot read what belongs to beoboard: its secrets are given to it, unless another program needs them, or
 * somebody else than root could put another file in their place.
 */
const GIVE_TO_RELAY = `if grep -qsx ${OF_RELAY} /usr/lib/systemd/system/beoboard-relay.service && [ -f /etc/beoboard/relay.toml ]; then
  ${RELAYS_FILES} | while read -r file; do
    if [ -f "$file" ] && [ "$(stat -L -c %U "$file")" = beoboard ]; then
      if [ ! -L "$file" ] && [ "$(stat -c %U "$(dirname "$file")")" = root ] &&
        ! grep -qsF "$file" /etc/beoboard/receive.toml /etc/beoboard/mirror.toml /etc/beoboard/send.toml; then
        chown -h beoboard-relay:beoboard-relay "$file"
        echo "beoboard: the relay is the user beoboard-relay: $file belongs to it now"
      else
        echo "beoboard: the relay is the user beoboard-relay, and cannot read $file: make a copy for it (install -m 600 -o beoboard-relay), and name that in /etc/beoboard/relay.toml"
      fi
    fi
  done
fi`;
const GIVE_BACK_OF_RELAY = `if [ -f /etc/beoboard/relay.toml ]; then
  ${RELAYS_FILES} | while read -r file; do
    if [ -f "$file" ] && [ "$(stat -c %U "$file")" = beoboard-relay ]; then
      chown -h beoboard:beoboard "$file"
      echo "beoboard: $file belongs to the user beoboard again"
    fi
  done
fi`;
/** A master of a version that had what is another package now. */
const SUPERMON = `if [ -e /etc/beoboard/supermon.toml ] && [ ! -e /usr/lib/systemd/system/beoboard-supermon.service ]; then
  echo "beoboard: beoboard-supermon.service, and the verbs supermon and zoom, are in the package beoboard-supermon now"
fi`;
/** The sender of another package, whose user has changed. */
const OTHER_SENDER = 'beoboard-send.service';
const HAS_OTHER_SENDER = `[ -e /usr/lib/systemd/system/${OTHER_SENDER} ]`;
/** The last line of a first installation. */
const tellNext = ({ next }, isFirst) => next && when(isFirst, `echo "${next}"`);
/** dpkg goes back to an older version, which may know nothing of this. */
const DOWNGRADE = `[ "$1" = upgrade ] && dpkg --compare-versions "$2" lt "$(dpkg-query -W -f '\${Version}' "$DPKG_MAINTSCRIPT_PACKAGE")"`;

/** dpkg's maintainer scripts by name, if they do something. Every Debian has `deb-systemd-*` (init-system-helpers). */
export function debScripts(pack) {
  const { all, sockets, enabled, disabled, templates, start, restart: again, stop } = unitsOf(pack);
  const { purges = [], written, emptied } = pack;
  // A unit that an administrator has disabled stays disabled. The state of an enabled one is not updated: for a masked
  // unit that would record nothing, and a purge would leave its links.
  const enable = [
    'deb-systemd-helper --quiet was-enabled "$unit" && action=enable || action=update-state',
    'deb-systemd-helper "$action" "$unit" >/dev/null || :',
  ];
  const reload = about(all, 'systemctl --system daemon-reload >/dev/null || :');
  const restart = 'deb-systemd-invoke restart UNITS >/dev/null || :';
  const scripts = {
    // Also where dpkg gave up a removal or an upgrade: this package stays then, and what it had stopped runs again.
    postinst: lines(
      setUp(pack),
      pack.python && 'py3compile -p "$DPKG_MAINTSCRIPT_PACKAGE"',
      hasSender(pack) && TAKE_KEY,
      makesMaster(pack) && GIVE_TO_RELAY,
      makesMaster(pack) && SUPERMON,
      forEach('unit', enabled, ...enable),
      forEach('unit', disabled, when('deb-systemd-helper debian-installed "$unit"', ...enable)),
      when(
        RUNS,
        reload,
        // What an older package had may run, or have been stopped with it.
        when(
          FIRST,
          takesOver(pack) ? about(again, restart) : about(start, 'deb-systemd-invoke start UNITS >/dev/null || :'),
        ),
        when(
          `! ${FIRST}`,
          // Sockets are not restarted, because reports that arrive meanwhile wait in them. After a removal they are
          // started, before their services.
          about(sockets, 'deb-systemd-invoke start UNITS >/dev/null || :'),
          about(again, restart),
        ),
        makesMaster(pack) && when(HAS_OTHER_SENDER, about([OTHER_SENDER], restart)),
      ),
      tellNext(pack, FIRST),
    ),
    prerm: lines(
      // What Python has compiled is not in the package.
      pack.python && 'py3clean -p "$DPKG_MAINTSCRIPT_PACKAGE"',
      when(
        '[ "$1" = remove ]',
        // Records units that an administrator has enabled, so that a purge removes these links, too.
        about(disabled, 'deb-systemd-helper update-state UNITS >/dev/null || :'),
        when(RUNS, about(stop, 'deb-systemd-invoke stop UNITS >/dev/null || :')),
      ),
      makesMaster(pack) && when(`[ "$1" = remove ] || { ${DOWNGRADE}; }`, GIVE_KEY_BACK, GIVE_BACK_OF_RELAY),
    ),
    postrm: lines(
      when(
        `[ "$1" = remove ] && ${RUNS}`,
        reload,
        makesMaster(pack) && when(HAS_OTHER_SENDER, about([OTHER_SENDER], restart)),
      ),
      when(
        '[ "$1" = purge ]',
        about(all, 'deb-systemd-helper purge UNITS >/dev/null || :'),
        // It knows the one instance alone.
        about(
          templates.map(name => `/etc/systemd/system/*.wants/${name.replace('@.', '@*.')}`),
          'rm -f UNITS',
        ),
        // A unit of another package may read the same file, which then stays.
        forEach('file', purges, 'grep -qsF "$file" /usr/lib/systemd/system/beoboard-*.service || rm -f "$file"'),
        written && `rm -rf ${written.join(' ')}`,
        // Anybody may put a link in its place: a pattern would lead through it, and find does not.
        emptied && `find ${emptied} -mindepth 1 -delete 2>/dev/null || :`,
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
  const { all, tryRestart, stop } = unitsOf(pack);
  const quietly = command => `${command} >/dev/null 2>&1 || :`;
  const reload = about(all, quietly('systemctl daemon-reload'));
  const restart = quietly('systemctl try-restart UNITS');
  const ldconfig = pack.library && '/sbin/ldconfig || :';
  const enabled = unit => `/run/${unit}.was-enabled`;
  const scripts = {
    // rpm disables and stops the units of a package that is replaced, and presets those of a new one.
    pre:
      takesOver(pack) &&
      when(
        '[ "$1" -eq 1 ]',
        forEach('unit', all, `systemctl --quiet is-enabled "$unit" 2>/dev/null && : >"${enabled('$unit')}" || :`),
      ),
    post: lines(
      setUp(pack),
      hasSender(pack) && TAKE_KEY,
      makesMaster(pack) && GIVE_TO_RELAY,
      ldconfig,
      // The presets of the system decide whether a unit starts at boot; those of EL say no.
      when('[ "$1" -eq 1 ]', about(all, quietly('systemctl --no-reload preset UNITS'))),
      when(RUNS, reload, makesMaster(pack) && about([OTHER_SENDER], restart)),
      tellNext(pack, '[ "$1" -eq 1 ]'),
    ),
    preun: when(
      '[ "$1" -eq 0 ]',
      pack.python && `rm -rf /${PLACES.rpm.python}/${pack.python}/__pycache__`,
      about(all, quietly('systemctl --no-reload disable UNITS')),
      when(RUNS, about(stop, quietly('systemctl stop UNITS'))),
    ),
    postun: lines(
      ldconfig,
      // Also after the way back to an older version.
      makesMaster(pack) && when('[ ! -e /usr/lib/systemd/system/beoboard-send.service.d/master.conf ]', GIVE_KEY_BACK),
      makesMaster(pack) &&
        when(`! grep -qsx ${OF_RELAY} /usr/lib/systemd/system/beoboard-relay.service`, GIVE_BACK_OF_RELAY),
      when(
        RUNS,
        reload,
        makesMaster(pack) && about([OTHER_SENDER], restart),
        when('[ "$1" -ge 1 ]', about(tryRestart, restart)),
      ),
    ),
    posttrans:
      takesOver(pack) &&
      forEach(
        'unit',
        all,
        when(
          `[ -e "${enabled('$unit')}" ]`,
          `rm -f "${enabled('$unit')}"`,
          quietly('systemctl --no-reload enable "$unit"'),
          when(RUNS, quietly('systemctl restart "$unit"')),
        ),
      ),
  };
  return Object.fromEntries(Object.entries(scripts).filter(([, text]) => typeof text === 'string'));
}
