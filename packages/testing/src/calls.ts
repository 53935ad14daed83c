// What a test and the program that it starts say to each other.

export type Role = 'admin' | 'member' | 'viewer';
export type KeyScope = 'READ' | 'WRITE' | 'MANAGE';

export type Seed = {
  /** The names of the organisations; one called Company by default. */
  organisations?: readonly string[];
  /** The role of each member beside the owner, in every organisation; none by default. */
  members?: readonly Role[];
  /** The paid tier that each of them buys; without it they have the free one. */
  plan?: string;
};

export type SeededUser = { id: string; email: string; password: string; role: 'owner' | Role };

export type SeededOrganisation = {
  id: string;
  slug: string;
  name: string;
  owner: SeededUser;
  /** In the order of the roles that were asked for. */
  members: SeededUser[];
};

export type Mail = {
  from: string;
  to: string[];
  subject: string;
  text: string;
  /** The http addresses in the mail, those of the text first. */
  links: string[];
};

export type Duration = { days?: number; hours?: number; minutes?: number; seconds?: number };

/** The functions of the program. What they return is written as JSON. */
export type Calls = {
  start: (environment: Record<string, string>) => Promise<{ url: string; sandboxUrl: string }>;
  seed: (wanted: Seed) => Promise<SeededOrganisation[]>;
  createApiKey: (wanted: { scope?: KeyScope; organisation?: string }) => Promise<string>;
  mailTo: (address: string) => Promise<Mail>;
  /** Returns the service's time, in ISO 8601. */
  advance: (by: Duration) => Promise<string>;
};

export type Call = { id: number; name: keyof Calls; input: unknown };
export type Answer = { id: number; value?: unknown; error?: string };
