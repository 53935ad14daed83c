import fs from 'node:fs';
import path from 'node:path';
import { fromRoot, nodeBinary } from './bootstrap.mjs';
import { programEnvironment } from './environment.mjs';
import { launch, run } from './processes.mjs';
import { writePrivate } from './sandbox-secrets.mjs';
import { start } from './start.mjs';

const portOf = (port) => port + 3;
const originOf = (port) => `http://localhost:${portOf(port)}`;

/** `npm run example`: does what `npm start` does, with the plans of examples/notes, and runs that product beside it. */
export function example(flags) {
  process.env.DATA_DIR ||= path.join('.data', 'example');
  return start(flags, {
    ports: 4,
    variables: (port) => ({
      SERVICE_NAME: 'Northwind Notes',
      SERVICE_URL: originOf(port),
      RETURN_ORIGINS: originOf(port),
      PLANS_FILE: fromRoot('examples/notes/plans.json'),
      TOKEN_TTL_SECONDS: '300',
    }),
    launch: launchNotes,
  });
}

async function launchNotes({ port, environment, dataDir }) {
  const env = programEnvironment({
    PATH: environment.PATH,
    GATEHOUSE_URL: environment.PUBLIC_BASE_URL,
    GATEHOUSE_API_KEY: await apiKey({ environment, dataDir }),
    NOTES_PORT: String(portOf(port)),
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
