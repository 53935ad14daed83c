import { createReadStream } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import type { App } from '@gatehouse/api/app';
import { commandLine } from '@gatehouse/api/operators/actor';
import { exportUsers } from '@gatehouse/api/operators/import/export-users';
import { importUsers } from '@gatehouse/api/operators/import/import-users';
import type { Command } from 'commander';
import type { Perform } from './answer.ts';

/** Adds the commands that bring users from another system, and take them along to one. */
export function addImportCommands(program: Command, perform: Perform): void {
  program
    .command('import-users')
    .description('imports users and organisations, one JSON object a line (docs/import.md)')
    .argument('<FILE>', 'a file of lines; one that was imported in part is imported again')
    .option('--dry-run', 'checks the file and stores nothing')
    .action((file: string, { dryRun = false }: { dryRun?: boolean }) =>
      perform((app) => importFile(app, file, dryRun)),
    );

  program
    .command('export-users')
    .description('prints all users, with the hashes of their passwords, and organisations, as import-users reads them')
    .action(() =>
      perform(async (app) => {
        if (process.stdout.isTTY) throw new Error('This holds the hashes of passwords: send it to a file, by > FILE.');
        process.stderr.write('It holds the hashes of passwords: anyone who reads it can try passwords.\n');
        return exportUsers(app, commandLine);
      }),
    );
}

async function importFile(app: App, file: string, dryRun: boolean) {
  await access(file).catch(() => {
    throw new Error(`${file} cannot be read.`);
  });
  if ((await stat(file)).isDirectory()) throw new Error(`${file} is a folder: name a file of lines.`);
  const importing = importUsers(app, linesOf(file), { dryRun, actor: commandLine });
  let step = await importing.next();
  for (; !step.done; step = await importing.next()) {
    process.stderr.write(`Line ${step.value.line}: ${step.value.sentence}\n`);
  }
  const { users, organisations, here, failed, leftOut } = step.value;
  const report = [
    `${dryRun ? 'Would import' : 'Imported'} ${counted(users, 'user')} and ${counted(organisations, 'organisation')}.`,
    here > 0 && `Skipped, because here already: ${here}.`,
    failed > 0 && `Failed: ${failed}.`,
    leftOut > 0 && `Passwords and identities left out, because the address is not verified: ${leftOut}.`,
    dryRun && 'Second factors, sessions and API keys are not carried over.',
  ].filter((line) => line !== false);
  return { report: report.join('\n'), sound: failed === 0 };
}

/** Node's readline also ends a line at U+2028, which JSON holds as it is: in a name that was pasted from a page. */
async function* linesOf(file: string): AsyncGenerator<string> {
  let rest = '';
  for await (const part of createReadStream(file, 'utf8')) {
    const lines = `${rest}${part}`.split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  yield rest;
}

function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en-GB')} ${noun}${count === 1 ? '' : 's'}`;
}
