import fs from 'node:fs';
import { bootstrap, nodeBinary } from './bootstrap.mjs';
import { builds } from './build.mjs';
import { endAll, launch } from './children.mjs';
import { place } from './places.mjs';
import { Sentence } from './say.mjs';
import { programEnvironment } from './surroundings.mjs';

/** Production: the built service from the environment alone. Its exit code is this command's. */
export async function serve() {
  for (const { entry } of [builds.web, builds.server]) {
    if (!fs.existsSync(place(entry))) throw new Sentence('There is no build here: run npm run build first.');
  }
  await bootstrap();

  const command = [nodeBinary(), place(builds.server.entry)];
  const service = launch(command, { env: programEnvironment(process.env), ours: true });
  const code = await service.exited;
  await endAll(code);
}
