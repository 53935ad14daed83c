// Written by `npm run languages` from the files of the languages.
import apiDocs from '../../fr/sign-in/api-docs.json' with { type: 'json' };
import invitation from '../../fr/sign-in/invitation.json' with { type: 'json' };
import link from '../../fr/sign-in/link.json' with { type: 'json' };
import signIn from '../../fr/sign-in/sign-in.json' with { type: 'json' };
import signOut from '../../fr/sign-in/sign-out.json' with { type: 'json' };
import signUp from '../../fr/sign-in/sign-up.json' with { type: 'json' };
import verify from '../../fr/sign-in/verify.json' with { type: 'json' };
import waiting from '../../fr/sign-in/waiting.json' with { type: 'json' };

export default { ...apiDocs, ...invitation, ...link, ...signIn, ...signOut, ...signUp, ...verify, ...waiting };
