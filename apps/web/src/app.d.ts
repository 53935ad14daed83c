import type { App as Service } from '@gatehouse/api/app';
import type { Caller } from '@gatehouse/api/router/root';
import type { Client } from '@gatehouse/api/security/client';
import type { Principal } from '@gatehouse/api/sessions/principal';
import type { Branding } from '#lib/branding/branding.ts';
import type { VerificationFailure } from '#lib/server/http/open-verification-link.ts';

declare global {
  namespace App {
    interface Locals {
      app: Service;
      requestId: string;
      client: Client;
      /** Null for nobody, and on the routes that never ask. */
      principal: Principal | null;
      /** The router, called in this process on behalf of whoever asks. */
      api: Caller;
      /** The company's own name and looks. */
      service: Branding;
      /** What the person chose; null follows the system. */
      theme: 'light' | 'dark' | null;
    }
    interface Error {
      message: string;
      requestId?: string;
      verification?: VerificationFailure;
    }
  }
}
