import path from 'node:path';
import { bootstrap, fromRoot, nodeBinary } from './bootstrap.mjs';
import { choosePort, prepareDataDirectory } from './demo.mjs';
import { isPublic, startEnvironment, userEnvironment } from './environment.mjs';
import { UserError } from './log.mjs';
import { endAll, isEnding, launch } from './processes.mjs';
import { build } from './programs.mjs';

/** The variables by which a service reaches the sandbox. */
const ofTheService = /^(IDP|PAYMENT)_|^(SMTP_URL|MAIL_FROM)$/;

/**
 * `npm run sandbox -- https://id.localhost`: runs the sandbox alone, beside a release on this machine at that address, and
 * prints what its environment file needs. PORT is that of the service. @throws UserError if the address is not of this
 * machine: anybody can sign in as anybody here.
 */
export async function sandbox([address]) {
  const user = userEnvironment();
  const base = { PUBLIC_BASE_URL: address ?? 'http://localhost:3000' };
  if (isPublic(base))
    throw new UserError(`${address} is not on this machine, and the sandbox is only for one that is.`);
  user.DATA_DIR ||= path.join('.data', 'sandbox');
  const [port, dataDir] = [Number(user.PORT || 3000), prepareDataDirectory(user)];
  await choosePort({ PORT: port + 1 }, 2);
  await bootstrap();
  await build('sandbox');

  const environment = startEnvironment(port, { ...user, ...base }, dataDir);
  const child = launch([nodeBinary(), fromRoot('packages/sandbox/dist/main.js')], { env: environment });
  child.exited.then((code) => isEnding() || endAll(code || 1));
  for (const [name, value] of Object.entries(environment)) {
    if (ofTheService.test(name)) process.stdout.write(`${name}="${value}"\n`);
  }
  process.stdout.write(
    `# http://localhost:${port + 1} has the mailbox and the payment provider's pages. Ctrl-C ends it.\n`,
  );
}
