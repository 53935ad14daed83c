-- What was written down stays as it was. Rows go only by their age (RETENTION_DAYS).
create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  raise exception 'audit_events is append-only';
end $$;
--> statement-breakpoint
create trigger audit_events_append_only before update or truncate on audit_events
  for each statement execute function refuse_audit_change();
