import { randomInt } from 'node:crypto';
import type { StoredFile } from '@gatehouse/payment-sandbox/provider/stored-file';

/** A made-up person whom the identity provider vouches for. */
export interface Account {
  /** Stable for ever: 21 digits, and never made from the address. */
  sub: string;
  email: string;
  email_verified: boolean;
  name: string;
}

export interface PeopleState {
  people: Account[];
}

export interface People {
  all(): Account[];
  find(sub: string): Account | undefined;
  /** Makes up a person; `sub` is given only where a test needs a certain one. */
  add(person: { email: string; email_verified?: boolean; name?: string; sub?: string }): Account;
  /** What the person is like from now on. The subject stays. */
  change(sub: string, changes: Partial<Omit<Account, 'sub'>>): Account;
}

export function createPeople(file: StoredFile<PeopleState>): People {
  return { all, find, add, change };

  function all(): Account[] {
    return file.value.people;
  }

  function find(sub: string): Account | undefined {
    return file.value.people.find((person) => person.sub === sub);
  }

  function add(input: { email: string; email_verified?: boolean; name?: string; sub?: string }): Account {
    const person = {
      sub: input.sub ?? newSubject(),
      email: input.email,
      email_verified: input.email_verified ?? true,
      name: input.name ?? '',
    };
    if (find(person.sub)) throw new Error(`There is a person with the subject ${person.sub} already.`);
    file.value.people.push(person);
    file.save();
    return person;
  }

  function change(sub: string, changes: Partial<Omit<Account, 'sub'>>): Account {
    const person = find(sub);
    if (!person) throw new Error(`There is no person with the subject ${sub}.`);
    Object.assign(person, changes, { sub });
    file.save();
    return person;
  }
}

function newSubject(): string {
  return `1${Array.from({ length: 20 }, () => randomInt(10)).join('')}`;
}
