import { randomInt } from 'node:crypto';
import type { StoredFile } from '@gatehouse/payment-sandbox/provider/stored-file';

/** An invented person that the identity provider can sign in. */
export interface Person {
  /** 21 digits. It never changes and is not derived from the address. */
  sub: string;
  email: string;
  email_verified: boolean;
  name: string;
}

export interface PeopleState {
  people: Person[];
}

export interface People {
  all(): Person[];
  find(sub: string): Person | undefined;
  /** Adds a person, by default with a new subject. @throws Error if the subject exists. */
  add(person: { email: string; email_verified?: boolean; name?: string; sub?: string }): Person;
  /** Changes a person. The subject stays. @throws Error if there is no such person. */
  change(sub: string, changes: Partial<Omit<Person, 'sub'>>): Person;
}

/** Keeps people in a file. Each change is saved at once. */
export function createPeople(file: StoredFile<PeopleState>): People {
  return { all, find, add, change };

  function all(): Person[] {
    return file.value.people;
  }

  function find(sub: string): Person | undefined {
    return file.value.people.find((person) => person.sub === sub);
  }

  function add(input: { email: string; email_verified?: boolean; name?: string; sub?: string }): Person {
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

  function change(sub: string, changes: Partial<Omit<Person, 'sub'>>): Person {
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
