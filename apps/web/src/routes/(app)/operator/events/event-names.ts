import { texts } from '#lib/language/texts.ts';

/** "Invoice paid" for invoice.paid. A type that is not listed: "Tax rate updated" for tax_rate.updated. */
export function eventName(type: string): string {
  const { names, withoutType }: { names: Record<string, string>; withoutType: string } = texts('eventType');
  if (Object.hasOwn(names, type)) return names[type] ?? type;
  const words = type.replace(/[._]+/g, ' ').trim();
  return words === '' ? withoutType : words.charAt(0).toUpperCase() + words.slice(1);
}
