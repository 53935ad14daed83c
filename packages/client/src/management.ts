import type {
  Invitation,
  ListedOrganisation,
  Membership,
  NewInvitation,
  Override,
  PasswordLink,
  Tier,
  User,
  UserInDetail,
} from './answers.ts';
import type { Call } from './send.ts';

type Signal = { signal?: AbortSignal };
type Page = { after?: string; limit?: number };
type Done = { ok: true };
/** What else ends with a user or a membership: the API keys that the user made, unless they are kept. */
type Keeping = Signal & { keepKeys?: boolean };
type Role = 'admin' | 'member' | 'viewer';
type Agreed = {
  tier?: Tier;
  limits?: Record<string, number | null>;
  features?: Record<string, boolean>;
  grace_days?: number;
  reason: string;
  /** A day ends at 24:00 UTC. */
  until?: string;
};

/**
 * What operators do in the console, for an API key with the scope MANAGE. A request that creates something is never
 * repeated: without an answer, look whether it is there.
 */
export function managing(ask: <Answer>(call: Call) => Promise<Answer>) {
  const ofUser = (id: string, action = '') => `/api/users/${encodeURIComponent(id)}${action}`;
  const ofOrganisation = (id: string, action = '') => `/api/organisations/${encodeURIComponent(id)}${action}`;
  const read = <Answer>(path: string, query: Call['query'], { signal }: Signal = {}) =>
    ask<Answer>({ path, query: query ?? {}, signal, repeatable: true });
  /** Answers the same a second time, so it is repeated. */
  const change = <Answer>(method: 'POST' | 'PUT' | 'PATCH', path: string, body: object, { signal }: Signal = {}) =>
    ask<Answer>({ method, path, body, signal, repeatable: true });
  const create = <Answer>(path: string, body: object, { signal }: Signal = {}) =>
    ask<Answer>({ method: 'POST', path, body, signal, repeatable: false });
  const remove = (path: string, body: object, { signal }: Signal = {}) =>
    ask<Done>({ method: 'DELETE', path, body, signal, repeatable: false });

  return {
    users: {
      /** Lists users, or finds the one with an address. */
      list: (query: Page & { email?: string } = {}, options?: Signal) =>
        read<{ users: User[]; next: string | null }>('/api/users', query, options),
      get: (id: string, options?: Signal) => read<UserInDetail>(ofUser(id), {}, options),
      /**
       * Creates a user, with an organisation that awaits approval if one is named. With `verified` you vouch for the
       * address; else the usual mail leaves.
       *
       * @throws GatehouseError CONFLICT for the address of a verified user, with the `id` in its body.
       */
      create: (
        user: { email: string; name?: string; verified?: boolean; organisation?: { name: string } },
        options?: Signal,
      ) => create<User>('/api/users', user, options),
      suspend: (id: string, { keepKeys: keep_keys, ...options }: Keeping = {}) =>
        change<User>('POST', ofUser(id, '/suspend'), { keep_keys }, options),
      restore: (id: string, options?: Signal) => change<User>('POST', ofUser(id, '/restore'), {}, options),
      endSessions: (id: string, options?: Signal) => change<User>('POST', ofUser(id, '/end-sessions'), {}, options),
      /** Needs a key that was made with --password-links. */
      passwordLink: (id: string, options?: Signal) => create<PasswordLink>(ofUser(id, '/password-link'), {}, options),
      /** @throws GatehouseError CONFLICT for the only owner of an organisation with other members or a subscription. */
      delete: (id: string, { keepKeys: keep_keys, ...options }: Keeping = {}) =>
        remove(ofUser(id), { keep_keys }, options),
    },

    organisations: {
      /** Takes an id or slug, as every function here. */
      get: (id: string, options?: Signal) => read<ListedOrganisation>(ofOrganisation(id), {}, options),
      /** Creates an organisation that awaits approval. `owner` is the id of a user. */
      create: (organisation: { name: string; owner?: string }, options?: Signal) =>
        create<ListedOrganisation>('/api/organisations', organisation, options),
      rename: (id: string, name: string, options?: Signal) =>
        change<ListedOrganisation>('PATCH', ofOrganisation(id), { name }, options),
      approve: (id: string, options?: Signal) =>
        change<ListedOrganisation>('POST', ofOrganisation(id, '/approve'), {}, options),
      decline: (id: string, reason: string, options?: Signal) =>
        change<ListedOrganisation>('POST', ofOrganisation(id, '/decline'), { reason }, options),
      suspend: (id: string, options?: Signal) =>
        change<ListedOrganisation>('POST', ofOrganisation(id, '/suspend'), {}, options),
      restore: (id: string, options?: Signal) =>
        change<ListedOrganisation>('POST', ofOrganisation(id, '/restore'), {}, options),
      /** Its subscriptions end at the payment provider first. */
      delete: (id: string, options?: Signal) => remove(ofOrganisation(id), {}, options),
    },

    members: {
      /** Makes a user a member; an owner only while there is none. @throws GatehouseError LIMIT_REACHED, CONFLICT. */
      add: (organisation: string, member: { user: string; role: Role | 'owner' }, options?: Signal) =>
        create<Membership>(ofOrganisation(organisation, '/members'), member, options),
      setRole: (organisation: string, { user, role }: { user: string; role: Role }, options?: Signal) =>
        change<Membership>(
          'PATCH',
          ofOrganisation(organisation, `/members/${encodeURIComponent(user)}`),
          { role },
          options,
        ),
      remove: (organisation: string, user: string, { keepKeys: keep_keys, ...options }: Keeping = {}) =>
        remove(ofOrganisation(organisation, `/members/${encodeURIComponent(user)}`), { keep_keys }, options),
    },

    invitations: {
      list: ({ organisation, ...page }: Page & { organisation: string }, options?: Signal) =>
        read<{ invitations: Invitation[]; next: string | null }>(
          ofOrganisation(organisation, '/invitations'),
          page,
          options,
        ),
      /** Creates an invitation, whose link you hand over. The address is a note: anyone with the link joins by it. */
      create: (organisation: string, invitation: { email: string; role: Role }, options?: Signal) =>
        create<NewInvitation>(ofOrganisation(organisation, '/invitations'), invitation, options),
      delete: (organisation: string, id: string, options?: Signal) =>
        remove(ofOrganisation(organisation, `/invitations/${encodeURIComponent(id)}`), {}, options),
    },

    overrides: {
      /** @throws GatehouseError NOT_FOUND where nothing is agreed. */
      get: (organisation: string, options?: Signal) =>
        read<Override>(ofOrganisation(organisation, '/override'), {}, options),
      /** States what was agreed, in place of an earlier override. It only adds to what is paid for. */
      set: (organisation: string, agreed: Agreed, options?: Signal) =>
        change<Override>('PUT', ofOrganisation(organisation, '/override'), agreed, options),
      end: (organisation: string, options?: Signal) => remove(ofOrganisation(organisation, '/override'), {}, options),
    },
  };
}
