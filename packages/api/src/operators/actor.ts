import { z } from 'zod';
import type { Actor as AuditActor } from '../audit/record.ts';
import type { Operator } from '../auth/principal.ts';
import { storableTime } from '../platform/durations.ts';
import { zodMessage } from '../platform/messages.ts';
import type { Client } from '../platform/security/client.ts';
import { freeLine } from '../platform/security/text.ts';

/** The actor of a change: an operator in the console, an API key that manages, or an admin command. */
export type Actor = AuditActor & {
  /** The organisation that an operator acts for, which they cannot close. */
  ownOrganisationId?: string | null;
};

/** An admin command, whose authority is that of the machine's shell. */
export type CommandLine = { actorId: null };
export const commandLine: CommandLine = { actorId: null };

/** The actor of what an operator does in the console. Only the check of a procedure makes an `Operator`. */
export function inConsole({ user, organisationId }: Operator, client: Client): Actor {
  return { actorId: user.id, client, ownOrganisationId: organisationId };
}

/** The schema of an operator's reason for an action. The audit entry shows it to other operators. */
export const optionalReason = freeLine(300)
  .optional()
  .transform((reason) => reason || undefined);

/** The details of an audit entry with a reason. */
export function reasonDetails(reason: string | undefined): { details?: Record<string, string> } {
  return reason === undefined ? {} : { details: { reason } };
}

/**
 * When the decision or suspension was made that the operator's page showed. An action on it compares the time, so that a
 * later one of another operator stays.
 */
export const shownTime = z.iso
  .datetime({ error: zodMessage('page_out_of_date') })
  .transform((time) => storableTime(Date.parse(time)));
