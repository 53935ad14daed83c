/** Whether the page at this path runs the page script in place of Kit (docs/decisions/037-sign-in-without-kit.md). */
export function hasPageScript(path: string): boolean {
  return /^\/(login|login\/second-step|signup)\/?$/.test(path);
}
