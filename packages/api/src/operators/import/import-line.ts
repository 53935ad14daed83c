import { z } from 'zod';
import type { App } from '../../app.ts';
import { isUuid } from '../../platform/db/id.ts';
import { readZodMessage, sentenceIn } from '../../platform/messages.ts';
import { canonicalIssuer } from '../../platform/providers/identity.ts';
import { readAddress } from '../../platform/security/address.ts';
import { storedForm } from '../../platform/security/imported-hash.ts';
import { cleanName, isStorable } from '../../platform/security/text.ts';

/** A user of an import, checked. A password and an identity are absent while the address is not verified. */
export type UserLine = {
  type: 'user';
  email: string;
  name: string | null;
  verified: boolean;
  suspended: boolean;
  createdAt: Date;
  passwordHash: string | null;
  identity: { issuer: string; subject: string } | null;
  /** Whether a password or an identity was left out, because the address is not verified. */
  leftOut: boolean;
};

export type OrganisationLine = {
  type: 'organisation';
  slug: string | null;
  name: string;
  approval: 'pending' | 'approved' | 'declined' | 'suspended';
  createdAt: Date;
  customer: string | null;
  members: { email: string; role: 'owner' | 'admin' | 'member' | 'viewer' }[];
};

const text = z.string().refine(isStorable, 'holds characters that cannot be stored.');
const address = text.transform((typed, context) => {
  const email = readAddress(typed);
  if (email !== null) return email;
  context.addIssue('is no e-mail address.');
  return z.NEVER;
});
const time = z.iso.datetime({ offset: true, error: 'must be a time in ISO 8601.' }).transform((each) => new Date(each));

const userLine = z.strictObject({
  type: z.literal('user'),
  email: address,
  name: text.nullish(),
  verified: z.boolean(),
  suspended: z.boolean().default(false),
  created_at: time.optional(),
  password: z.strictObject({ hash: text, format: text.optional() }).optional(),
  identity: z.strictObject({ issuer: text.min(1), subject: text.min(1).max(255) }).optional(),
});

const organisationLine = z.strictObject({
  type: z.literal('organisation'),
  slug: text
    .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'has lower-case letters, digits and single hyphens.')
    .max(47)
    .optional(),
  name: text,
  approval: z.enum(['pending', 'approved', 'declined', 'suspended']),
  created_at: time.optional(),
  customer: text.regex(/^cus_\w+$/, 'is the id of a customer: cus_….').optional(),
  members: z.array(z.strictObject({ email: address, role: z.enum(['owner', 'admin', 'member', 'viewer']) })),
});

const lines = z.discriminatedUnion('type', [userLine, organisationLine], 'must be user or organisation.');
type Given = z.output<typeof lines>;

/** Returns what a line of an import holds. @throws Error with a sentence that says what is wrong with it. */
export function readLine({ config, now }: Pick<App, 'config' | 'now'>, line: string): UserLine | OrganisationLine {
  const read = lines.safeParse(parseJson(line));
  if (!read.success) throw new Error(sentenceOf(read.error.issues[0]));
  const given = read.data;
  const createdAt = given.created_at ?? now();
  if (createdAt > now()) throw new Error('created_at lies ahead.');
  return given.type === 'user' ? userFrom(config, given, createdAt, now()) : organisationFrom(given, createdAt);
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new Error('This is no JSON.');
  }
}

function sentenceOf(issue: z.core.$ZodIssue | undefined): string {
  if (issue === undefined) return 'This is no line of an import.';
  const where = issue.path.join('.');
  if (issue.code === 'unrecognized_keys') {
    const names = issue.keys.map((key) => [...issue.path, key].join('.'));
    return `There is no such member: ${names.join(', ')}.`;
  }
  if (where === '') return 'A line is an object with type: user or organisation.';
  const message = readZodMessage(issue.message);
  const said = typeof message === 'string' ? message : sentenceIn('en', message);
  return `${where}: ${said}`;
}

type GivenUser = Extract<Given, { type: 'user' }>;
type GivenOrganisation = Extract<Given, { type: 'organisation' }>;

function userFrom({ idp }: App['config'], given: GivenUser, createdAt: Date, now: Date): UserLine {
  const { email, name, verified, suspended, password, identity } = given;
  const passwordHash = password === undefined ? null : storedForm(password, now.toISOString().slice(0, 10));
  const issuer = identity === undefined ? null : canonicalIssuer(identity.issuer);
  if (issuer !== null && !idp?.issuers.map(canonicalIssuer).includes(issuer)) {
    throw new Error(`IDP_ISSUERS lacks the issuer ${issuer}.`);
  }

  const linked = identity === undefined || issuer === null ? null : { issuer, subject: identity.subject };
  return {
    type: 'user',
    email,
    name: name == null ? null : cleanName(name, 100),
    verified,
    suspended,
    createdAt,
    passwordHash: verified ? passwordHash : null,
    identity: verified ? linked : null,
    leftOut: !verified && (passwordHash !== null || linked !== null),
  };
}

function organisationFrom(given: GivenOrganisation, createdAt: Date): OrganisationLine {
  const { slug = null, approval, customer = null, members } = given;
  const name = cleanName(given.name, 100);
  if (name === null) throw new Error('name: must not be blank.');
  if (slug !== null && isUuid(slug)) throw new Error('slug: must not have the form of an id.');
  if (!members.some(({ role }) => role === 'owner')) throw new Error('members: one at least must be an owner.');
  const addresses = members.map(({ email }) => email);
  const twice = addresses.find((email, at) => addresses.indexOf(email) !== at);
  if (twice !== undefined) throw new Error(`members: ${twice} is there twice.`);
  return { type: 'organisation', slug, name, approval, createdAt, customer, members };
}
