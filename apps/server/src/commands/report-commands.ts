import type { App } from '@gatehouse/api/app';
import { reconcileAll } from '@gatehouse/api/billing/sync/reconcile';
import { findingsOf, summaryOf } from '@gatehouse/api/billing/sync/report';
import { runChecks } from '@gatehouse/api/operators/doctor/doctor';

/** Prints a line for each finding, then the summary. */
export async function reconcile(app: App, json: boolean): Promise<{ report: string; sound: boolean }> {
  const found = await reconcileAll(app);
  const findings = findingsOf(found);
  const report = json ? JSON.stringify(found, null, 2) : [...findings, summaryOf(found)].join('\n');
  return { report, sound: findings.length === 0 };
}

export async function diagnose(app: App, json: boolean): Promise<{ report: string; sound: boolean }> {
  const { findings, report, sound } = await runChecks(app);
  return { report: json ? JSON.stringify(findings, null, 2) : report, sound };
}
