import path from 'node:path';
import type { Config } from '@gatehouse/api/platform/config';

/** Describes the database that a command works on, without its user and password. */
export function describeDatabase({ databaseUrl, dataDir }: Pick<Config, 'databaseUrl' | 'dataDir'>): string {
  if (databaseUrl === null) return `Database: the embedded one in ${path.resolve(dataDir)}`;

  const [, hosts = '', name = ''] = /^[a-z]+:\/\/(?:[^@/]*@)?([^/?]*)\/?([^?]*)/.exec(databaseUrl) ?? [];
  const socket = /[?&]host=([^&]+)/.exec(databaseUrl)?.[1];
  return `Database: ${name || 'the default one'} at ${socket ? decodeURIComponent(socket) : hosts}`;
}
