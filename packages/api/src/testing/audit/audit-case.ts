import type { AuditAction } from '../../audit/actions.ts';
import { startSession } from '../../auth/sessions/session.ts';
import type { ChangeType } from '../../changes/record-change.ts';
import type { BillingTest } from '../billing.ts';
import { addMember, callerFor, makeOwner, testClient } from '../factories.ts';

export type Owner = Awaited<ReturnType<typeof makeOwner>>;

/** The App on the sandbox, with an operator. */
export type AuditTest = BillingTest & { operator: Owner };

/**
 * A row of the audit log in words: `role-changed by another user about user, organisation from client`.
 * "user" and "organisation" are those of the case; "operator" is the test's operator.
 */
export type AuditLine = AuditAction | `${AuditAction} ${'by' | 'about' | 'from'} ${string}`;

/** A change that the feed tells, in words: `tells member.joined about user, organisation`. */
type ToldLine = `tells ${ChangeType} about ${string}`;

/**
 * Acts, and returns the e-mail address of the user whom the act concerns. Rows that are written
 * before `begin` is called do not count. `begin` takes the address of a user who is deleted
 * afterwards or leaves the organisation.
 */
export type Act = (begin: (email?: string) => Promise<void>) => Promise<string>;

/** What happens, and what it leaves: audit entries, sorted by action, and changes in the order of the feed. */
export type AuditCase = [what: string, act: Act, ...lines: (AuditLine | ToldLine)[]];

type OwnerOptions = Parameters<typeof makeOwner>[1];

/** The ways in which a case begins. */
export function actsOf(test: AuditTest) {
  return {
    /** An owner acts, or something is done to them. */
    owner(act: (owner: Owner) => Promise<unknown>, options: OwnerOptions = {}): Act {
      return async (begin) => {
        const owner = await makeOwner(test, options);
        await begin(owner.email);
        await act(owner);
        return owner.email;
      };
    },

    /** An owner acts after a preparation whose rows do not count. */
    afterwards<Held>(
      prepare: (owner: Owner) => Promise<Held>,
      act: (owner: Owner, held: Held) => Promise<unknown>,
      options: OwnerOptions = {},
    ): Act {
      return async (begin) => {
        const owner = await makeOwner(test, options);
        const held = await prepare(owner);
        await begin();
        await act(owner, held);
        return owner.email;
      };
    },

    /** An owner acts on a member of their organisation, or the member acts. */
    member(
      act: (owner: Owner, ids: { organisation_id: string; user_id: string }, member: Owner) => Promise<unknown>,
    ): Act {
      return async (begin) => {
        const owner = await makeOwner(test);
        const member = await addMember(test, owner.organisationId, 'member');
        await begin(member.email);
        await act(owner, { organisation_id: owner.organisationId, user_id: member.userId }, member);
        return member.email;
      };
    },

    /** The router for a caller without a session, who can start one. */
    anonymous() {
      const start = async (session: {
        userId: string;
        organisationId: string | null;
        passwordHash?: string | null;
      }) => {
        await startSession(test.app, { ...session, client: testClient });
      };
      return callerFor(test, null, { session: { start } });
    },
  };
}
