import { operatorsKeyInput } from '@gatehouse/api/members/keys/store-key';
import { commandLine } from '@gatehouse/api/operators/actor';
import { createOperatorKey } from '@gatehouse/api/operators/keys';
import { advance } from './advance.ts';
import type { Calls } from './calls.ts';
import type { EmptyDatabase } from './empty-database.ts';
import { seed } from './seed.ts';
import { startService } from './service.ts';

export type Running = {
  url: string;
  sandboxUrl: string;
  calls: Omit<Calls, 'start'>;
  close: () => Promise<void>;
};

/** Starts the service, and returns what its parent may call. @throws as `startService`. */
export async function runService(
  environment: Record<string, string>,
  opening: Promise<EmptyDatabase>,
): Promise<Running> {
  const service = await startService(environment, opening);
  const { app, sandbox, close } = service;
  return {
    url: app.config.publicBaseUrl ?? '',
    sandboxUrl: sandbox.url,
    close,
    calls: {
      seed: (wanted) => seed(service, wanted),
      async createApiKey({ scope, organisation = null }) {
        const input = operatorsKeyInput.parse({ name: 'A test', scope });
        return (await createOperatorKey(app, { organisationId: organisation }, input, commandLine)).key;
      },
      mailTo: (address) => sandbox.mailbox.waitFor(address, null, mailMilliseconds),
      advance: async (by) => (await advance(service, by)).toISOString(),
    },
  };
}

const mailMilliseconds = 10_000;
