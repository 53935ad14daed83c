import fs from 'node:fs';
import path from 'node:path';
import { fromRoot, nodeBinary } from './bootstrap.mjs';
import { programEnvironment } from './environment.mjs';
import { log } from './log.mjs';
import { launch, run } from './processes.mjs';
import { writePrivate } from './sandbox-secrets.mjs';
import { start } from './start.mjs';
import { certificateFor, startTlsProxy } from './tls-proxy.mjs';

const domain = 'gatehouse.localhost';
const notesPort = (port) => port + 3;

/**
 * `npm run example`: does what `npm start` does, with the plans of examples/notes, and runs that product beside it. Each
 * has a host of its own, over https by a certificate that is made here: the layout of production. `--one-host`, and a
 * machine without openssl, has both on localhost.
 */
export function example(flags) {
  process.env.DATA_DIR ||= path.join('.data', 'example');
  const certificate = flags.includes('--one-host')
    ? null
    : certificateFor(domain, path.join(process.env.DATA_DIR, 'tls'));
  if (certificate === null && !flags.includes('--one-host')) {
    log('There is no openssl to make a certificate: Gatehouse and Notes share the host localhost, without https.');
  }
  const hosts = certificate === null ? oneHost : twoHosts;
  return start(flags, {
    ports: 5,
    variables: (port) => ({
      ...hosts.variables(port),
      SERVICE_NAME: 'Northwind Notes',
      SERVICE_URL: hosts.notes(port),
      RETURN_ORIGINS: hosts.notes(port),
      PLANS_FILE: fromRoot('examples/notes/plans.json'),
      TOKEN_TTL_SECONDS: '300',
    }),
    async launch(running) {
      const { port } = running;
      if (certificate !== null) {
        const portOf = { [`id.${domain}`]: port, [`app.${domain}`]: notesPort(port) };
        await startTlsProxy({ port: port + 4, certificate, portOf });
      }
      return launchNotes(running, hosts.notes(port));
    },
  });
}

const oneHost = {
  notes: (port) => `http://localhost:${notesPort(port)}`,
  variables: () => ({}),
};

const twoHosts = {
  notes: (port) => `https://app.${domain}:${port + 4}`,
  variables: (port) => ({
    PUBLIC_BASE_URL: `https://id.${domain}:${port + 4}`,
    COOKIE_DOMAIN: domain,
    TRUSTED_PROXIES: '1',
    // The sandbox sends events past the proxy, whose certificate it would not trust.
    SANDBOX_WEBHOOK_ORIGIN: `http://localhost:${port}`,
  }),
};

async function launchNotes({ port, environment, dataDir }, origin) {
  const env = programEnvironment({
    PATH: environment.PATH,
    GATEHOUSE_URL: `http://localhost:${port}`,
    GATEHOUSE_PUBLIC_URL: environment.PUBLIC_BASE_URL,
    GATEHOUSE_API_KEY: await apiKey({ environment, dataDir }),
    NOTES_PORT: String(notesPort(port)),
    NOTES_ORIGIN: origin,
    NOTES_FILE: path.join(dataDir, 'notes.json'),
  });
  return launch([nodeBinary(), fromRoot('examples/notes/src/server.ts')], { env });
}

/** Returns the product's API key, which an admin command creates at the first start. */
async function apiKey({ environment, dataDir }) {
  const file = path.join(dataDir, 'notes-api-key.json');
  if (fs.existsSync(file)) return JSON.parse(fs.readFileSync(file, 'utf8'));

  const command = [nodeBinary(), fromRoot('apps/server/dist/operator.js')];
  const { output } = await run([...command, 'api-key', 'create', '--name', 'Notes', '--scope', 'WRITE'], environment);
  const key = /gh_test_\S+/.exec(output)?.[0];
  if (key === undefined) throw new Error(`The API key of the example could not be created: ${output}`);
  writePrivate(file, key);
  return key;
}
