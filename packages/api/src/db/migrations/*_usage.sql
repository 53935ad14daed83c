--> statement-breakpoint
-- Room in each page for the next version of a row, so that an update changes no index.
ALTER TABLE "usage" SET (fillfactor = 50);
--> statement-breakpoint
-- Moves the value of an ended day to its history, from the newest version of the row, whoever updates it.
-- A gauge (since the epoch) has its value at the day's end; a counter adds what it counted on that day.
create function keep_usage_day() returns trigger language plpgsql as $$
begin
  insert into usage_days as held (organisation_id, meter, day, used)
  values (old.organisation_id, old.meter, old.day, case when old.since = 'epoch' then old.used else old.day_used end)
  on conflict (organisation_id, meter, day) do update
    set used = case when old.since = 'epoch' then excluded.used else held.used + excluded.used end;
  return null;
end $$;
--> statement-breakpoint
create trigger usage_day_ended after update on usage
  for each row when (old.day is distinct from new.day) execute function keep_usage_day();
