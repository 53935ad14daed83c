const settings = ['password', 'unlink', 'connect'];

/** Whether a form, by its name, is one of those that change how the user signs in. */
export function isSignInSetting(formName: string | null | undefined): boolean {
  return settings.includes(formName ?? '');
}

/** The id of each form's password field, where it is not "password". */
export const passwordIds: Record<string, string> = {
  address: 'address-password',
  unlink: 'identity-password',
  connect: 'identity-password',
  sessions: 'sessions-password',
  fresh: 'confirm-password',
};
