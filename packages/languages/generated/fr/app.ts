// Written by `npm run languages` from the files of the languages.
import account from '../../fr/app/account.json' with { type: 'json' };
import activity from '../../fr/app/activity.json' with { type: 'json' };
import audit from '../../fr/app/audit.json' with { type: 'json' };
import billing from '../../fr/app/billing.json' with { type: 'json' };
import home from '../../fr/app/home.json' with { type: 'json' };
import invoices from '../../fr/app/invoices.json' with { type: 'json' };
import keys from '../../fr/app/keys.json' with { type: 'json' };
import members from '../../fr/app/members.json' with { type: 'json' };
import organisation from '../../fr/app/organisation.json' with { type: 'json' };
import overview from '../../fr/app/overview.json' with { type: 'json' };
import plan from '../../fr/app/plan.json' with { type: 'json' };

export default { ...account, ...activity, ...audit, ...billing, ...home, ...invoices, ...keys, ...members, ...organisation, ...overview, ...plan };
