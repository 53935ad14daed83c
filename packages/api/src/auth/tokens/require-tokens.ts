import type { App } from '../../app.ts';
import { AppError } from '../../platform/errors.ts';

type TokensConfig = NonNullable<App['config']['tokens']>;

/** An App whose configuration has tokens turned on. */
export type TokensApp = App & { config: { tokens: TokensConfig } };

export function hasTokens(app: App): app is TokensApp {
  return app.config.tokens !== null;
}

/** Returns the App as one with tokens. @throws AppError NOT_FOUND unless TOKEN_TTL_SECONDS is set. */
export function requireTokens(app: App): TokensApp {
  if (!hasTokens(app)) throw new AppError('NOT_FOUND', 'There is nothing here.');
  return app;
}
