CREATE TABLE "change_feed" (
	"one" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"deployment" uuid DEFAULT gen_random_uuid() NOT NULL,
	"last_position" bigint DEFAULT 0 NOT NULL,
	"deleted_to" bigint DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE "changes" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "changes_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"position" bigint,
	"at" timestamp with time zone NOT NULL,
	"type" text NOT NULL,
	"organisation_id" uuid,
	"user_id" uuid,
	"data" jsonb DEFAULT '{}'::jsonb NOT NULL
);
--> statement-breakpoint
CREATE TABLE "told_members" (
	"organisation_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	CONSTRAINT "told_members_organisation_id_user_id_pk" PRIMARY KEY("organisation_id","user_id")
);
--> statement-breakpoint
CREATE TABLE "told_organisations" (
	"organisation_id" uuid PRIMARY KEY NOT NULL,
	"tier" text DEFAULT 'free' NOT NULL,
	"status" text DEFAULT 'none' NOT NULL,
	"ends_at" timestamp with time zone,
	"due_at" timestamp with time zone
);
--> statement-breakpoint
CREATE UNIQUE INDEX "changes_position" ON "changes" USING btree ("position");--> statement-breakpoint
CREATE INDEX "changes_organisation" ON "changes" USING btree ("organisation_id","position");--> statement-breakpoint
CREATE INDEX "changes_unplaced" ON "changes" USING btree ("id") WHERE "changes"."position" is null;--> statement-breakpoint
CREATE INDEX "changes_at" ON "changes" USING btree ("at");--> statement-breakpoint
CREATE INDEX "told_members_user" ON "told_members" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "told_organisations_due" ON "told_organisations" USING btree ("due_at");--> statement-breakpoint
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
--> statement-breakpoint
insert into change_feed default values;
--> statement-breakpoint
insert into told_members (organisation_id, user_id)
  select organisation_id, user_id from memberships join users on users.id = user_id where email_verified_at is not null;
--> statement-breakpoint
-- The next minute's job tells the plan of an organisation that has subscriptions.
insert into told_organisations (organisation_id, due_at)
  select id, case when id in (select organisation_id from payment_subscriptions) then now() end from organisations where approval <> 'pending' or id in (select organisation_id from told_members);
--> statement-breakpoint
create function tell_change(kind text, organisation uuid, who uuid, details jsonb) returns void language sql as $$
  insert into changes (at, type, organisation_id, user_id, data)
  values (clock_timestamp(), kind, organisation, who, details)
$$;
--> statement-breakpoint
-- Tells that a verified user belongs to an organisation, once, and before it that the organisation exists.
create function tell_member(organisation uuid, who uuid) returns void language plpgsql as $$
declare
  member_role text;
  held organisations;
  is_new boolean;
begin
  select role into member_role from memberships join users on users.id = user_id
    where organisation_id = organisation and user_id = who and email_verified_at is not null;
  if not found then return; end if;
  insert into told_organisations (organisation_id) values (organisation) on conflict do nothing;
  is_new := found;
  if is_new then
    select * into held from organisations where id = organisation;
    perform tell_change('organisation.created', organisation, null,
      jsonb_build_object('slug', held.slug, 'name', held.name));
  end if;
  insert into told_members (organisation_id, user_id) values (organisation, who) on conflict do nothing;
  if found then
    perform tell_change('member.joined', organisation, who, jsonb_build_object('role', member_role));
  end if;
  if is_new and held.approval <> 'pending' then
    perform tell_change('organisation.' || held.approval, organisation, null, '{}');
  end if;
  if is_new and held.suspended_at is not null then
    perform tell_change('organisation.suspended', organisation, null, '{}');
  end if;
end $$;
--> statement-breakpoint
create function tell_membership() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    perform tell_member(new.organisation_id, new.user_id);
  elsif tg_op = 'UPDATE' then
    perform tell_change('member.role_changed', organisation_id, user_id, jsonb_build_object('role', new.role))
      from told_members where organisation_id = new.organisation_id and user_id = new.user_id;
  else
    delete from told_members where organisation_id = old.organisation_id and user_id = old.user_id;
    -- The end of an organisation is one change.
    if found and exists (select from organisations where id = old.organisation_id) then
      perform tell_change('member.left', old.organisation_id, old.user_id, '{}');
    end if;
  end if;
  return null;
end $$;
--> statement-breakpoint
create function tell_user() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    perform tell_change('user.deleted', organisation_id, user_id, '{}')
      from told_members where user_id = old.id order by organisation_id;
    return old;
  end if;
  if new.email <> old.email then
    perform tell_change('user.email_changed', organisation_id, user_id, jsonb_build_object('email', new.email))
      from told_members where user_id = new.id order by organisation_id;
  end if;
  if (new.suspended_at is null) <> (old.suspended_at is null) then
    perform tell_change(case when new.suspended_at is null then 'user.restored' else 'user.suspended' end,
      organisation_id, user_id, '{}') from told_members where user_id = new.id order by organisation_id;
  end if;
  return null;
end $$;
--> statement-breakpoint
create function tell_verified_user() returns trigger language plpgsql as $$
begin
  perform tell_member(organisation_id, user_id) from memberships where user_id = new.id order by organisation_id;
  return null;
end $$;
--> statement-breakpoint
create function tell_organisation() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    delete from told_organisations where organisation_id = old.id;
    if found then perform tell_change('organisation.deleted', old.id, null, '{}'); end if;
    delete from told_members where organisation_id = old.id;
    return null;
  end if;
  if not exists (select from told_organisations where organisation_id = new.id) then return null; end if;
  if (new.slug, new.name) is distinct from (old.slug, old.name) then
    perform tell_change('organisation.renamed', new.id, null, jsonb_build_object('slug', new.slug, 'name', new.name));
  end if;
  if new.approval <> old.approval and new.approval <> 'pending' then
    perform tell_change('organisation.' || new.approval, new.id, null, '{}');
  end if;
  if (new.suspended_at is null) <> (old.suspended_at is null) then
    perform tell_change(case when new.suspended_at is null then 'organisation.restored' else 'organisation.suspended' end,
      new.id, null, '{}');
  end if;
  return null;
end $$;
--> statement-breakpoint
-- At the commit, when the transaction that opened the e-mail gate has settled name and approval.
create constraint trigger tell_new_member after insert on memberships
  deferrable initially deferred for each row execute function tell_membership();
--> statement-breakpoint
create constraint trigger tell_verified_user after update on users deferrable initially deferred
  for each row when (old.email_verified_at is null and new.email_verified_at is not null)
  execute function tell_verified_user();
--> statement-breakpoint
create trigger tell_new_role after update on memberships
  for each row when (old.role is distinct from new.role) execute function tell_membership();
--> statement-breakpoint
create trigger tell_former_member after delete on memberships for each row execute function tell_membership();
--> statement-breakpoint
create trigger tell_changed_user after update on users for each row
  when (old.email is distinct from new.email or old.suspended_at is distinct from new.suspended_at)
  execute function tell_user();
--> statement-breakpoint
create trigger tell_deleted_user before delete on users for each row execute function tell_user();
--> statement-breakpoint
create trigger tell_changed_organisation after update on organisations for each row
  when (old.* is distinct from new.*) execute function tell_organisation();
--> statement-breakpoint
create trigger tell_deleted_organisation after delete on organisations
  for each row execute function tell_organisation();
