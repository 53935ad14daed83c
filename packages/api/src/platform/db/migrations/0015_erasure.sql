ALTER TABLE "payment_events" ADD COLUMN "stripped_at" timestamp with time zone;
--> statement-breakpoint
drop trigger audit_events_append_only on audit_events;
--> statement-breakpoint
create trigger audit_events_no_truncate before truncate on audit_events
  for each statement execute function refuse_audit_change();
--> statement-breakpoint
-- Erasing a user removes client, user agent and details of entries. No update can add or alter anything.
create trigger audit_events_append_only before update on audit_events
  for each row when (
    (new.id, new.at, new.action, new.actor_id, new.user_id, new.organisation_id)
      is distinct from (old.id, old.at, old.action, old.actor_id, old.user_id, old.organisation_id)
    or new.client is not null and new.client is distinct from old.client
    or new.user_agent is not null and new.user_agent is distinct from old.user_agent
    or not new.details <@ old.details
  ) execute function refuse_audit_change();
