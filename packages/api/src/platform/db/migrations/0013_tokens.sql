CREATE TABLE "token_keys" (
	"id" uuid PRIMARY KEY NOT NULL,
	"public_key" jsonb NOT NULL,
	"private_key" text NOT NULL,
	"sealed_by" text NOT NULL,
	"signs_from" timestamp with time zone NOT NULL,
	"signs_until" timestamp with time zone
);
--> statement-breakpoint
CREATE INDEX "token_keys_order" ON "token_keys" USING btree ("sealed_by","signs_from");--> statement-breakpoint
CREATE UNIQUE INDEX "token_keys_newest" ON "token_keys" USING btree ("sealed_by") WHERE "token_keys"."signs_until" is null;
--> statement-breakpoint
-- An approval that an operator undid ends access, as a suspension does: services read it as one.
create or replace function tell_organisation() returns trigger language plpgsql as $$
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
  if new.approval = 'pending' and old.approval = 'approved' then
    perform tell_change('organisation.suspended', new.id, null, jsonb_build_object('approval', 'pending'));
  end if;
  if (new.suspended_at is null) <> (old.suspended_at is null) then
    perform tell_change(case when new.suspended_at is null then 'organisation.restored' else 'organisation.suspended' end,
      new.id, null, '{}');
  end if;
  return null;
end $$;
