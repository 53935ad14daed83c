import { setUpBilling } from '@gatehouse/api/billing/actions/set-up-billing';
import { reconcileAll } from '@gatehouse/api/billing/sync/reconcile';
import { findingsOf, summaryOf } from '@gatehouse/api/billing/sync/report';
import { commandLine } from '@gatehouse/api/operators/actor';
import { findOrganisation } from '@gatehouse/api/operators/find-accounts';
import { linkCustomer } from '@gatehouse/api/operators/link-customer';
import { replaceCustomer } from '@gatehouse/api/operators/replace-customer';
import type { Command } from 'commander';
import { asJson, jsonOption, type Perform } from './answer.ts';
import { forgetPayments } from './forget-payments.ts';

/** Adds the commands about payments. */
export function addBillingCommands(program: Command, perform: Perform): void {
  program
    .command('billing-setup')
    .description('creates products, prices and the portal at the provider')
    .action(() => perform(setUpBilling));

  program
    .command('reconcile')
    .description('compares all subscriptions with the provider’s and repairs')
    .option(...jsonOption)
    .addHelpText(
      'after',
      '\nPrints a line for each finding; its last line is the summary.\n' +
        'Exits with 1 also where something differed, even if it was repaired.',
    )
    .action(({ json = false }) =>
      perform(async (app) => {
        const found = await reconcileAll(app);
        const findings = findingsOf(found);
        const report = json ? asJson(found) : [...findings, summaryOf(found)].join('\n');
        return { report, sound: findings.length === 0 };
      }),
    );

  program
    .command('new-customer')
    .description('replaces a customer that the provider does not know')
    .argument('<SLUG>', 'the slug of an organisation')
    .action((slug: string) =>
      perform(async (app) => {
        const { id } = await findOrganisation(app.db, slug);
        const { customerId, givenUpIds } = await replaceCustomer(app, { organisationId: id });
        return givenUpIds.length === 0
          ? `${customerId} was deleted at the provider. The next checkout of ${slug} makes a new one.`
          : `Gave up ${givenUpIds.join(', ')}. ${slug} can buy again.`;
      }),
    );

  program
    .command('link-customer')
    .description('makes a customer of the provider, with its subscriptions, an organisation’s')
    .argument('<SLUG>', 'the slug of an organisation')
    .argument('<CUSTOMER>', 'the customer’s id, cus_…')
    .action((slug: string, customerId: string) =>
      perform(async (app) => {
        const { id: organisationId } = await findOrganisation(app.db, slug);
        const found = await linkCustomer(app, { organisationId, customerId }, commandLine);
        const lines = found.map(({ id, status, tier }) => `${id}: ${status}, ${tier ?? 'a price of no tier'}`);
        return [
          `${customerId} is the customer of ${slug}.`,
          ...(lines.length > 0 ? lines : ['It has no subscription.']),
        ].join('\n');
      }),
    );

  program
    .command('forget-payments')
    .description('removes what the database holds of the payment provider, so that it can get the other mode')
    .option('--mode <MODE>', 'the name of the mode, test or live, in place of the question for it')
    .option('--entitled', 'also removes subscriptions that give a plan; their ids are printed')
    .addHelpText(
      'after',
      '\nThe service must not run. At the provider nothing changes: what is live there goes on charging.',
    )
    .action(({ mode = '', entitled = false }) => perform((app) => forgetPayments(app, mode, entitled)));
}
