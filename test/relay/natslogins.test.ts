// Permissions at a real NATS server: TLS, users, nkeys and creds by our options, each refused and reported if it is
// wrong; the permissions of packaging/nats; and a server that freezes while much is being sent to it.
//
// @rest

import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect, nkeys, usernamePasswordAuthenticator } from '@nats-io/transport-node';
import t from 'tap';
import { NatsBus } from '../../src/relay/bus.js';
import type { AccessOptions } from '../../src/relay/natsaccess.js';
import type { Log } from '../../src/service/log.js';
import { filled, isServing, noServers, type Server, serve, startServers } from '../kit/natsservers.js';
import { freePorts } from '../kit/network.js';
import { folder, type Teardown } from '../kit/places.js';
import { until } from '../kit/until.js';

t.setTimeout(600_000);
t.jobs = 3;
const skip = noServers();
const SUBJECT = 'beoboard.v1.home.alpha.m1.batch';
const BRISK = 'ping_interval: "1s"\nping_max: 2\n';

async function serverOf(t: Teardown, at: string, config: string): Promise<Server> {
  const [port] = await freePorts(1);
  const server = serve(t, at, 'nats', port as number, `listen: "127.0.0.1:${port}"\n${config}`);
  await isServing(server);
  return server;
}

/** A connection with our options, and its messages. */
async function entry(
  t: Teardown,
  servers: Server | readonly Server[],
  options: Omit<AccessOptions, 'nats'>,
  scheme = 'nats',
) {
  const lines: string[] = [];
  const tell = (...words: string[]) => void lines.push(words.at(-1) as string);
  const log: Log = { info: tell, warn: tell, error: tell, seldom: tell };
  const lost: string[] = [];
  const nats = [servers].flat().map(({ port }) => `${scheme}://127.0.0.1:${port}`);
  const bus = new NatsBus('test', { nats, ...options }, log, why => lost.push(why));
  t.teardown(() => bus.close());
  return { bus, lines, lost };
}

type Joined = Awaited<ReturnType<typeof entry>>;

/** Checks that a message from one connection reaches the other. */
async function carries(from: NatsBus, to: NatsBus, subject = SUBJECT): Promise<void> {
  let came = 0;
  const end = to.subscribe(subject, () => {
    came++;
  });
  await until(`a message of ${subject} comes`, () => {
    from.publish(subject, new Uint8Array(8));
    return came > 0;
  });
  end();
}

const isIn = ({ bus, lines }: Joined) =>
  until('it is connected', () => bus.connected).catch(error => {
    throw new Error(`${error.message}: ${lines.at(-1)}`);
  });
const isOut = async (joined: Joined, why: RegExp) => {
  await until(`it is told that ${why}`, () => joined.lines.some(line => why.test(line)));
  return !joined.bus.connected;
};

function secret(at: string, name: string, text: string, mode = 0o600): string {
  writeFileSync(join(at, name), text, { mode });
  return join(at, name);
}

/** A certificate for 127.0.0.1 or a client, signed by one of our own. */
function certificates(at: string): void {
  const openssl = (...argv: string[]) => {
    const { status, stderr } = spawnSync('openssl', argv, { cwd: at, encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
  };
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  for (const ca of ['ca', 'other'])
    openssl('req', '-x509', ...key, '-keyout', `${ca}.key`, '-out', `${ca}.pem`, '-subj', `/CN=${ca}`, '-days', '2');
  writeFileSync(join(at, 'names'), 'subjectAltName=IP:127.0.0.1\n');
  for (const who of ['server', 'client']) {
    openssl('req', ...key, '-keyout', `${who}.key`, '-out', `${who}.csr`, '-subj', `/CN=${who}`);
    const by = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2', '-extfile', 'names'];
    openssl('x509', '-req', '-in', `${who}.csr`, ...by, '-out', `${who}.pem`);
    spawnSync('chmod', ['600', join(at, `${who}.key`)]);
  }
}

t.test('TLS on both sides, with a user and a password', { skip }, async t => {
  const at = folder(t);
  certificates(at);
  const tls = `tls { cert_file: "${at}/server.pem", key_file: "${at}/server.key", ca_file: "${at}/ca.pem", verify: true }`;
  const server = await serverOf(t, at, `${BRISK}${tls}\nauthorization { user: "u", password: "p:w" }\n`);
  const right = {
    natsCa: join(at, 'ca.pem'),
    natsCert: join(at, 'client.pem'),
    natsCertKey: join(at, 'client.key'),
    natsLogin: secret(at, 'login', 'u:p:w\n'),
  };
  const [one, other] = [await entry(t, server, right, 'tls'), await entry(t, server, right)];
  await Promise.all([isIn(one), isIn(other)]);
  await carries(one.bus, other.bus);
  const wrong: [what: string, Partial<AccessOptions>, why: RegExp][] = [
    ['of another authority', { ...right, natsCa: join(at, 'other.pem') }, /cannot connect.*certificate/i],
    ['without a certificate of its own', { natsCa: right.natsCa, natsLogin: right.natsLogin }, /cannot connect|ended/],
    ['with another password', { ...right, natsLogin: secret(at, 'wrong', 'u:q\n') }, /cannot connect.*Authorization/i],
  ];
  for (const [what, options, why] of wrong) t.ok(await isOut(await entry(t, server, options), why), what);
  // A file that others can read is rejected as a secret.
  for (const options of [
    { ...right, natsLogin: secret(at, 'shown', 'u:p:w\n', 0o644) },
    { ...right, natsCertKey: secret(at, 'shown.key', 'x', 0o640) },
  ])
    await t.rejects(entry(t, server, options), /others/);
  await t.rejects(entry(t, server, { natsCert: right.natsCert }), /belong together/);
  await t.rejects(entry(t, server, { ...right, natsNkey: right.natsLogin }), /exclude each other/);
});

t.test('an nkey', { skip }, async t => {
  const at = folder(t);
  const pair = nkeys.createUser();
  const server = await serverOf(t, at, `${BRISK}authorization { users: [ { nkey: ${pair.getPublicKey()} } ] }\n`);
  const natsNkey = secret(at, 'nkey', `${new TextDecoder().decode(pair.getSeed())}\n`);
  const [one, other] = [await entry(t, server, { natsNkey }), await entry(t, server, { natsNkey })];
  await Promise.all([isIn(one), isIn(other)]);
  await carries(one.bus, other.bus);
  const stranger = secret(at, 'stranger', new TextDecoder().decode(nkeys.createUser().getSeed()));
  t.ok(await isOut(await entry(t, server, { natsNkey: stranger }), /cannot connect.*Authorization/i), 'a stranger');
});

t.test('users and passwords of any characters', { skip }, async t => {
  const at = folder(t);
  const password = ' pä:ß “密码” 🔑 ';
  const server = await serverOf(t, at, `${BRISK}authorization { user: "jürgen", password: "${password}" }\n`);
  for (const end of ['', '\n', '\r\n']) {
    const joined = await entry(t, server, { natsLogin: secret(at, 'login', `jürgen:${password}${end}`) });
    await isIn(joined);
  }
  const old = join(at, 'old');
  writeFileSync(old, 'jürgen:pä\n', { mode: 0o600, encoding: 'latin1' });
  await t.rejects(entry(t, server, { natsLogin: old }), /old: is not text in UTF-8/);
  for (const text of ['u', 'u:p\nv:q', ''])
    await t.rejects(entry(t, server, { natsLogin: secret(at, 'no', text) }), /no: is not one line USER:PASSWORD/);
});

/** A NATS JWT, signed by its issuer, as `nsc` makes it. */
function claim(issuer: nkeys.KeyPair, subject: string, name: string, nats: object): string {
  const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const head = encoded({ typ: 'JWT', alg: 'ed25519-nkey' });
  const iat = Math.floor(Date.now() / 1000);
  const jti = randomBytes(16).toString('hex');
  const body = encoded({ jti, iat, iss: issuer.getPublicKey(), sub: subject, name, nats: { ...nats, version: 2 } });
  const signature = issuer.sign(new TextEncoder().encode(`${head}.${body}`));
  return `${head}.${body}.${Buffer.from(signature).toString('base64url')}`;
}

/** A server's configuration, and creds that it accepts. `name`: of the user. */
function credentials(name: string) {
  const [operator, account, user] = [nkeys.createOperator(), nkeys.createAccount(), nkeys.createUser()];
  const most = { subs: -1, data: -1, payload: -1, conn: -1, leaf: -1, imports: -1, exports: -1, wildcards: true };
  const ofOperator = claim(operator, operator.getPublicKey(), 'site', { type: 'operator' });
  const ofAccount = claim(operator, account.getPublicKey(), 'board', { type: 'account', limits: most });
  const ofUser = claim(account, user.getPublicKey(), name, { type: 'user', subs: -1, data: -1, payload: -1 });
  const credsOf = (jwt: string) => `-----BEGIN NATS USER JWT-----
${jwt}
------END NATS USER JWT------

************************* IMPORTANT *************************
-----BEGIN USER NKEY SEED-----
${new TextDecoder().decode(user.getSeed())}
------END USER NKEY SEED------`;
  return {
    config: `operator: ${ofOperator}\nresolver: MEMORY\nresolver_preload: { ${account.getPublicKey()}: ${ofAccount} }\n`,
    text: credsOf(ofUser),
    foreign: credsOf(claim(nkeys.createAccount(), user.getPublicKey(), name, { type: 'user' })),
  };
}

t.test('creds', { skip }, async t => {
  const at = folder(t);
  const { config, text, foreign } = credentials('relay');
  const server = await serverOf(t, at, `${BRISK}${config}`);
  const natsCreds = secret(at, 'relay.creds', text);
  const [one, other] = [await entry(t, server, { natsCreds }), await entry(t, server, { natsCreds })];
  await Promise.all([isIn(one), isIn(other)]);
  await carries(one.bus, other.bus);
  const wrong = secret(at, 'wrong.creds', foreign);
  t.ok(await isOut(await entry(t, server, { natsCreds: wrong }), /cannot connect.*Authorization/i), 'of no account');
});

t.test('the permissions of packaging/nats', { skip }, async t => {
  const at = folder(t);
  const [port, route, leaf, nowhere] = await freePorts(4);
  const another =
    '{ user: mirror-login2, password: "p", permissions: { publish: ["beoboard.v1.home.*.*.ping"], subscribe: ["_INBOX_login2.>"] } }\n{ user: all, password: "p" }\n';
  const config = filled('server.conf', [
    [/<0\.0\.0\.0:4222>/, `127.0.0.1:${port}`],
    [/<0\.0\.0\.0:6222>/, `127.0.0.1:${route}`],
    [/<nats-route:[^>]*>, <nats-route:[^>]*>/, `nats-route://127.0.0.1:${nowhere}`],
    [/<0\.0\.0\.0:7422>/, `127.0.0.1:${leaf}`],
    [/users: \[\n/, `users: [\n${another}`],
    [/<m1>/, 'm1'],
  ]);
  const server = serve(t, at, 'm1', port as number, config);
  await isServing(server);
  /** A plain NATS client, and the permissions that the server denied it. */
  const client = async (user: string, password: string) => {
    const authenticator = usernamePasswordAuthenticator(user, password);
    const nats = await connect({ servers: `127.0.0.1:${port}`, authenticator, noEcho: true });
    t.teardown(() => nats.close());
    const refused: string[] = [];
    void (async () => {
      for await (const status of nats.status()) if (status.type === 'error') refused.push(status.error.message);
    })();
    const came: string[] = [];
    const hear = (subject: string) =>
      nats.subscribe(subject, {
        callback: (error, message) => {
          if (error === null) came.push(message.subject);
        },
      });
    return { nats, refused, came, hear };
  };
  const everything = await client('all', 'p');
  everything.hear('>');
  const relay = await client('relay-m1', 'relay-m1-password');
  const mirror = await client('mirror-login1', 'mirror-password');
  const second = await client('mirror-login2', 'p');
  type Client = typeof relay;
  await everything.nats.flush();
  /** Publishes a message, and returns whether the client that may receive everything got it. */
  const published = async ({ nats }: Client, subject: string, reply?: string) => {
    everything.came.length = 0;
    nats.publish(subject, 'x', reply === undefined ? {} : { reply });
    await nats.flush();
    await everything.nats.flush();
    return everything.came.includes(subject);
  };
  const subscribed = async ({ nats, refused, hear }: Client, subject: string) => {
    const before = refused.length;
    hear(subject);
    await nats.flush();
    // Errors that the server sent before the answer to `flush` are reported one turn of the event loop later.
    await new Promise(resolve => setImmediate(resolve));
    return refused.length === before;
  };
  const home = 'beoboard.v1.home.alpha';
  for (const kind of ['batch', 'index', 'ping', 'wait']) t.ok(await published(relay, `${home}.m1.${kind}`), kind);
  for (const subject of [`${home}.m2.batch`, 'beoboard.v1.home.beta.m1.batch', 'beoboard.v1.away.alpha.m1.index'])
    t.notOk(await published(relay, subject), `a relay does not publish ${subject}`);
  for (const subject of ['_INBOX.x', '_INBOX_login1.x', 'x'])
    t.notOk(await published(relay, subject), `nor, unasked, ${subject}`);
  for (const kind of ['ping', 'ask', 'wait', 'ping.*', 'ask.*'])
    t.ok(await subscribed(relay, `${home}.m1.${kind}`), `hears ${kind}`);
  for (const subject of [`${home}.m2.batch`, `${home}.m1.batch`, '_INBOX_login1.>', '>'])
    t.notOk(await subscribed(relay, subject), `nor hears ${subject}`);

  for (const kind of ['ping', 'ask', 'ping.login1', 'ask.login1'])
    t.ok(await published(mirror, `${home}.m2.${kind}`), `a mirror's ${kind}`);
  for (const subject of [
    `${home}.m1.batch`,
    `${home}.m1.index`,
    `${home}.m1.wait`,
    `${home}.m1.ping.login2`,
    `${home}.m1.ask.relay`,
    '_INBOX_login2.x',
    '_INBOX_login1.x',
  ])
    t.notOk(await published(mirror, subject), `a mirror does not publish ${subject}`);
  for (const subject of [`${home}.m1.batch`, `${home}.m2.index`, '_INBOX_login1.>'])
    t.ok(await subscribed(mirror, subject), `hears ${subject}`);
  for (const subject of ['_INBOX_login2.>', '_INBOX.>', `${home}.m1.ping`, 'beoboard.>', '>'])
    t.notOk(await subscribed(mirror, subject), `nor hears ${subject}`);

  // A relay may answer each ping once, and only within a second.
  const answer = async (reply: string) => {
    const before = relay.came.length;
    mirror.nats.publish(`${home}.m1.ping`, 'x', { reply });
    await until('the ping comes', () => relay.came.length > before);
  };
  await answer('_INBOX_login1.a');
  t.ok(await published(relay, '_INBOX_login1.a'), 'an answer');
  t.notOk(await published(relay, '_INBOX_login1.a'), 'and no second');
  await until('the mirror has it', () => mirror.came.includes('_INBOX_login1.a'));
  await answer('_INBOX_login1.b');
  // The server measures that second by its clock, which is the same as ours.
  const since = performance.now();
  await until('a second is over', () => performance.now() - since > 1200);
  t.notOk(await published(relay, '_INBOX_login1.b'), 'nor one that comes too late');
  t.same(second.came, [], 'and the other mirror has heard none of it');

  // Another site's server: even a client with all permissions there can do here only what our example allows its login.
  const [away] = await freePorts(1);
  const remote = `leafnodes { remotes: [ { url: "nats-leaf://leaf-away:leaf-password@127.0.0.1:${leaf}" } ] }`;
  const site = serve(t, at, 'away', away as number, `listen: "127.0.0.1:${away}"\n${BRISK}${remote}\n`);
  await isServing(site);
  const there = await connect({ servers: `127.0.0.1:${away}` });
  t.teardown(() => there.close());
  const heard: string[] = [];
  for (const subject of ['>', `${home}.m1.batch`, `${home}.m1.ping`, '_INBOX_login1.>', '_INBOX_login2.>', 'x'])
    there.subscribe(subject, { callback: (_, message) => void heard.push(message.subject) });
  everything.came.length = 0;
  const marker = `${home}.m1.ask`;
  await until('the leaf is joined', () => {
    there.publish(marker);
    return everything.came.includes(marker);
  });
  const last = `${home}.m9.ask`;
  const tried = [`${home}.m1.batch`, `${home}.m1.index`, `${home}.m1.wait`, '_INBOX_login1.x', 'x', last];
  // Each subject is subscribed to, because `>` is not forwarded to a leaf whose login does not allow all of it.
  for (const subject of tried) everything.hear(subject);
  await everything.nats.flush();
  await until('the last comes', () => {
    for (const subject of tried) there.publish(subject);
    return everything.came.includes(last);
  });
  t.same(new Set(everything.came), new Set([marker, last]), 'what comes of the leaf');
  await until('the leaf hears', () => {
    for (const subject of [`${home}.m1.ping`, '_INBOX_login2.x', 'x', `${home}.m1.batch`, '_INBOX_login1.x'])
      everything.nats.publish(subject);
    return heard.includes('_INBOX_login1.x') && heard.includes(`${home}.m1.batch`);
  });
  t.same(
    new Set(heard.filter(subject => ![marker, last].includes(subject))),
    new Set([
      ...[`${home}.m1.batch`, '_INBOX_login1.x'],
      // These were published at the leaf itself.
      ...[`${home}.m1.index`, `${home}.m1.wait`, 'x'],
    ]),
  );
});

t.test('relays of both masters go to whichever server of packaging/nats is there', { skip }, async t => {
  const at = folder(t);
  const { hubs } = await startServers(t, at);
  await Promise.all(hubs.map(hub => isServing(hub)));
  const member = async (user: string, text: string) => {
    const joined = await entry(t, hubs, { natsLogin: secret(at, user, `${user}:${text}\n`) });
    await isIn(joined);
    return joined;
  };
  const relays = await Promise.all(['m1', 'm2'].map(name => member(`relay-${name}`, `relay-${name}-password`)));
  const mirror = await member('mirror-login1', 'mirror-password');
  const allCarry = async () => {
    for (const [i, { bus }] of relays.entries())
      await carries(bus, mirror.bus, `beoboard.v1.home.alpha.m${i + 1}.batch`);
  };
  await allCarry();
  for (const hub of hubs) {
    const end = once(hub.child, 'close');
    hub.child.kill('SIGKILL');
    await end;
    await allCarry();
    hub.restart();
    await isServing(hub);
  }
  t.notOk(
    [...relays, mirror].some(({ lines }) => lines.some(line => /Authorization/i.test(line))),
    'none refuses',
  );

  // A server that does not know the user.
  const lonely = await serverOf(t, at, `${BRISK}authorization { user: "u", password: "p" }\n`);
  const servers = [hubs[0] as Server, lonely];
  const relay = await entry(t, servers, { natsLogin: join(at, 'relay-m1') });
  await isIn(relay);
  // On a busy machine it may not answer in time.
  await until('it is told while the other is there', () =>
    relay.lines.some(line => line.includes(`:${lonely.port} would not take over from`)),
  );
  hubs[0]?.child.kill('SIGKILL');
  const told = new RegExp(
    `^cannot connect to (?=.*:${hubs[0]?.port}: .*refused)(?=.*:${lonely.port}: .*Authorization)`,
    'i',
  );
  t.ok(await isOut(relay, told), 'a reason for each server');
});

t.test('a server that refuses what we want to hear is told, and left for one that does not', { skip }, async t => {
  const at = folder(t);
  const allowing = (subject: string) =>
    `${BRISK}authorization { users: [ { user: u, password: p, permissions: { subscribe: "${subject}" } } ] }\n`;
  const good = await serverOf(t, folder(t), allowing('beoboard.>'));
  const bad = await serverOf(t, folder(t), allowing('other.>'));
  const natsLogin = secret(at, 'login', 'u:p\n');
  const told = `:${bad.port} would not take over from 127.0.0.1:${good.port}: Permissions Violation`;
  const comes = async () => {
    const joined = await entry(t, [good, bad], { natsLogin });
    joined.bus.subscribe(SUBJECT, () => undefined);
    await until('it is there, and told', () => joined.lines.some(line => line.includes(told))).catch(error => {
      throw new Error(`${error.message}: ${joined.lines.join('; ')}`);
    });
    return joined;
  };
  // Whichever it tries first.
  const relays = await Promise.all([1, 2, 3, 4, 5, 6].map(comes));
  const end = once(good.child, 'close');
  good.child.kill('SIGKILL');
  await end;
  const isAt = ({ port }: Server) => relays.every(({ bus }) => bus.server === `127.0.0.1:${port}`);
  await until('they are at the one that is there', () => isAt(bad));
  const isTold = (line: string) => /the server says: Permissions Violation/.test(line);
  await until('and say what it refuses', () => relays.every(({ lines }) => lines.some(isTold)));
  good.restart();
  await isServing(good);
  const again = await comes();
  t.equal(again.bus.server, `127.0.0.1:${good.port}`);
});

t.test('files are read for each connection, whatever their size', { skip }, async t => {
  const at = folder(t);
  const [port] = await freePorts(1);
  const path = (name: string) => join(at, name);
  /** A way to log in, made new by each call. */
  type Way = () => { options: Omit<AccessOptions, 'nats'>; config: string };
  const login: Way = () => {
    const password = randomBytes(8).toString('hex');
    const natsLogin = secret(at, 'login', `u:${password}\n`);
    return { options: { natsLogin }, config: `authorization { user: "u", password: "${password}" }` };
  };
  const nkey: Way = () => {
    const pair = nkeys.createUser();
    const natsNkey = secret(at, 'nkey', new TextDecoder().decode(pair.getSeed()));
    return { options: { natsNkey }, config: `authorization { users: [ { nkey: ${pair.getPublicKey()} } ] }` };
  };
  const creds: Way = () => {
    const { config, text } = credentials('relay');
    return { options: { natsCreds: secret(at, 'creds', `${'text\n'.repeat(1000)}${text}`) }, config };
  };
  const tls: Way = () => {
    certificates(at);
    // As in a bundle of many authorities, and a key behind much text.
    for (const name of ['ca.pem', 'client.key'])
      writeFileSync(path(name), `${'# text\n'.repeat(2000)}${readFileSync(path(name), 'utf8')}`);
    return {
      options: { natsCa: path('ca.pem'), natsCert: path('client.pem'), natsCertKey: path('client.key') },
      config: `tls { cert_file: "${at}/server.pem", key_file: "${at}/server.key", ca_file: "${at}/ca.pem", verify: true }`,
    };
  };
  for (const [what, way] of Object.entries({ login, nkey, creds, tls })) {
    const first = way();
    const config = (text: string) => `listen: "127.0.0.1:${port}"\n${BRISK}${text}\n`;
    const server = serve(t, at, 'nats', port as number, config(first.config));
    await isServing(server);
    const { bus, lines, lost } = await entry(t, server, first.options);
    await isIn({ bus, lines, lost });
    const exit = once(server.child, 'close');
    server.child.kill('SIGKILL');
    await exit;
    await until('it has noticed', () => !bus.connected);
    writeFileSync(path('nats.conf'), config(way().config));
    server.restart();
    await until(`${what}: it is connected by the new one`, () => bus.connected).catch(error => {
      throw new Error(`${error.message}: ${lines.at(-1)}`);
    });
    bus.close();
    const end = once(server.child, 'close');
    server.child.kill('SIGKILL');
    await end;
  }
  const server = await serverOf(t, at, '');
  const whole = secret(at, 'whole', `u:${'x'.repeat(5 << 20)}`);
  await t.rejects(entry(t, server, { natsLogin: whole }), /larger than 4 MiB/);
  spawnSync('mkfifo', [path('pipe')]);
  for (const options of [{ natsCa: path('pipe') }, { natsLogin: path('pipe') }, { natsCa: '/dev/zero' }])
    await t.rejects(entry(t, server, options), /is not a file for NATS/);
  await t.rejects(
    entry(t, server, { natsCa: secret(at, 'no.pem', '-----BEGIN CERTIFICATE-----\nx') }),
    /cannot be used/,
  );
  await t.rejects(entry(t, server, { natsNkey: secret(at, 'no.nkey', `SU${'A'.repeat(56)}`) }), /no seed of an nkey/);
  await t.rejects(entry(t, server, { natsCreds: secret(at, 'no.creds', 'x') }), /is not a creds file/);
});

t.test('a server without TLS', { skip }, async t => {
  const server = await serverOf(t, folder(t), BRISK);
  // Without TLS somebody on the way could read the password, so tls:// must not fall back.
  t.ok(await isOut(await entry(t, server, {}, 'tls'), /cannot connect.*'tls'/), 'tls:// does not go on without TLS');
});

t.test('a server that freezes while much is being sent to it', { skip }, async t => {
  const at = folder(t);
  const ports = await freePorts(2);
  const servers = ports.map((port, i) => serve(t, at, `nats${i}`, port, `listen: "127.0.0.1:${port}"\n${BRISK}`));
  await Promise.all(servers.map(server => isServing(server)));
  const lines: string[] = [];
  const tell = (...words: string[]) => void lines.push(words.at(-1) as string);
  const log: Log = { info: tell, warn: tell, error: tell, seldom: tell };
  const nats = ports.map(port => `nats://127.0.0.1:${port}`);
  const lost: string[] = [];
  const bus = new NatsBus('test', { nats }, log, why => lost.push(why));
  t.teardown(() => bus.close());
  const came: string[] = [];
  bus.subscribe('back', ({ subject }) => came.push(subject));
  await until('it is connected', () => bus.connected);
  const first = bus.server;
  const [frozen, other] = first.endsWith(`:${ports[0]}`) ? servers : servers.toReversed();
  frozen?.child.kill('SIGSTOP');
  const batch = new Uint8Array(400_000);
  // The batches are more than the kernel buffers, so the rest waits in this process.
  await until(
    'it has gone to another server',
    () => {
      bus.publish(SUBJECT, batch);
      return bus.connected && bus.server !== first;
    },
    20,
  );
  t.match(lost, [/does not answer/]);
  const second = await entry(t, other as Server, {});
  await isIn(second);
  await carries(bus, second.bus);
  await until('what it has asked for comes', () => {
    second.bus.publish('back', new Uint8Array(1));
    return came.length > 0;
  });
  frozen?.child.kill('SIGCONT');
  t.pass('and there it goes on');
});
