import type { App } from '@gatehouse/api/app';
import { commandLine } from '@gatehouse/api/operators/actor';
import { afterRestore } from '@gatehouse/api/operators/deployment/after-restore';
import { describeSchema } from '@gatehouse/api/operators/doctor/check-database';
import { runChecks } from '@gatehouse/api/operators/doctor/doctor';
import type { Command } from 'commander';
import { asJson, jsonOption, type Perform } from './answer.ts';

/** Adds the commands about the deployment as a whole. */
export function addDeploymentCommands(program: Command, perform: Perform): void {
  program
    .command('migrate')
    .description('applies the migrations of this release to the database')
    .action(() => perform(describeSchema, { migrates: true }));

  program
    .command('after-restore')
    .description('makes a database safe that was restored from a backup, before the service starts on it')
    .addHelpText(
      'after',
      '\nEnds all sessions, links, invitations and recovery codes, which may have been ended or used after the backup,\n' +
        'the trust of browsers and the keys that sign tokens, drops the mails that wait, and marks all subscriptions\n' +
        'for a sync with the payment provider. Readers of the feed of changes must then read everything again.',
    )
    .action(() => perform(makeSafe));

  program
    .command('doctor')
    .description('checks the whole configuration against the services that it names')
    .option(...jsonOption)
    .addHelpText('after', '\nExits with 1 also where something is wrong.')
    .action(({ json = false }) =>
      perform(
        async (app) => {
          const { findings, report, sound } = await runChecks(app);
          return { report: json ? asJson(findings) : report, sound };
        },
        { withoutDatabase: true },
      ),
    );
}

async function makeSafe(app: App): Promise<string> {
  const { sessions, links, invitations, mails, subscriptions, validKeys } = await afterRestore(app, commandLine);
  const lines = [
    `Ended: sessions ${sessions}, links ${links}, invitations ${invitations}. Dropped: mails that waited ${mails}.`,
    subscriptions > 0 &&
      `Subscriptions that the service syncs within minutes of its start: ${subscriptions}. Then run reconcile.`,
    validKeys > 0 &&
      `Valid API keys, with those that were revoked after the backup: ${validKeys}. Look through api-key list.`,
    'No recovery code works any more: users with a second factor have to make new ones.',
    'Passwords, suspensions and operators are those of the backup: look through list and users.',
  ];
  return lines.filter((line) => line !== false).join('\n');
}
