ALTER TABLE "api_keys" DROP CONSTRAINT "api_keys_scope";--> statement-breakpoint
ALTER TABLE "invitations" ALTER COLUMN "made_by" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "audit_events" ADD COLUMN "key_id" uuid;--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "password_links" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "invitations" ADD COLUMN "key_id" uuid;--> statement-breakpoint
ALTER TABLE "invitations" ADD CONSTRAINT "invitations_key_id_api_keys_id_fk" FOREIGN KEY ("key_id") REFERENCES "public"."api_keys"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "invitations_key" ON "invitations" USING btree ("key_id") WHERE "invitations"."key_id" is not null;--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_manage" CHECK ("api_keys"."scope" <> 'MANAGE' or "api_keys"."organisation_id" is null);--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_password_links" CHECK ("api_keys"."scope" = 'MANAGE' or not "api_keys"."password_links");--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_scope" CHECK ("api_keys"."scope" in ('READ', 'WRITE', 'MANAGE'));--> statement-breakpoint
ALTER TABLE "invitations" ADD CONSTRAINT "invitations_one_maker" CHECK (num_nonnulls("invitations"."made_by", "invitations"."key_id") = 1);--> statement-breakpoint
-- As before, with the key that acted.
create or replace trigger audit_events_append_only before update on audit_events
  for each row when (
    (new.id, new.at, new.action, new.actor_id, new.key_id, new.user_id, new.organisation_id)
      is distinct from (old.id, old.at, old.action, old.actor_id, old.key_id, old.user_id, old.organisation_id)
    or new.client is not null and new.client is distinct from old.client
    or new.user_agent is not null and new.user_agent is distinct from old.user_agent
    or not new.details <@ old.details
  ) execute function refuse_audit_change();
