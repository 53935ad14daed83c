import { version } from '@gatehouse/api/platform/config-version';
import { Command } from 'commander';
import { isRelease } from '../env-file.ts';
import type { Perform } from './answer.ts';
import { addBillingCommands } from './billing-commands.ts';
import { addDeploymentCommands } from './deployment-commands.ts';
import { addImportCommands } from './import-commands.ts';
import { addKeyCommands } from './key-commands.ts';
import { addOrganisationCommands } from './organisation-commands.ts';
import { addUserCommands } from './user-commands.ts';

/**
 * Returns the operator's command line. It throws a CommanderError, after the text is printed, for wrong usage and
 * for --help and --version.
 */
export function createProgram(perform: Perform): Command {
  const program = new Command(programName())
    .description('Admin commands of Gatehouse. COMMAND --help explains one command.')
    .version(version, '--version')
    .helpCommand('help [COMMAND]')
    .showHelpAfterError('Add --help to see the usage.')
    .configureOutput({ outputError: (message, write) => write(`${sentenceOf(message)}\n`) })
    .exitOverride();

  addUserCommands(program, perform);
  addOrganisationCommands(program, perform);
  addImportCommands(program, perform);
  addKeyCommands(program, perform);
  addBillingCommands(program, perform);
  addDeploymentCommands(program, perform);

  return program.addHelpText(
    'after',
    '\nExit codes: 0 done; 1 failed, with the reason on stderr; 2 wrong usage.\n' +
      'The database is named on stderr: DATABASE_URL, or the embedded one in DATA_DIR.',
  );
}

/** How this program is called: by npm in a checkout, by node in a release, where operator.js is at the top. */
function programName(): string {
  return isRelease() ? 'node operator.js' : 'npm run operator --';
}

/** Makes a sentence of "error: unknown option '--force'". */
function sentenceOf(message: string): string {
  const text = message.trim().replace(/^error: /, '');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.)?]$/.test(text) ? '' : '.'}`;
}
