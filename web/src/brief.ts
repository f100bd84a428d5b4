/** What of a first look a page draws. Pure. */

import type { Brief } from "./document";

/** The command to go on with; `null` where there is none, or where it would only make the page that is being read. */
export function nextOf(brief: Brief): NonNullable<Brief["next"]> | null {
  const leadsHere = brief.next !== null && /^fathom (report |compare .* -o )/.test(brief.next.command);
  return leadsHere ? null : brief.next;
}
