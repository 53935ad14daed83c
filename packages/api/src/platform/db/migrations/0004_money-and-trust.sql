ALTER TABLE "users" ADD COLUMN "invited_only" boolean DEFAULT false NOT NULL;--> statement-breakpoint
UPDATE "users" SET "invited_only" = true WHERE "email_verified_at" IS NOT NULL
	AND NOT EXISTS (SELECT FROM "memberships" WHERE "user_id" = "users"."id")
	AND NOT EXISTS (
		SELECT FROM "audit_events" WHERE "user_id" = "users"."id"
		AND "action" IN ('member-joined', 'member-removed', 'organisation-left')
	);--> statement-breakpoint
ALTER TABLE "invitations" ADD COLUMN "session_id" uuid;--> statement-breakpoint
ALTER TABLE "payment_customers" ADD COLUMN "livemode" boolean;--> statement-breakpoint
ALTER TABLE "payment_customers" ADD COLUMN "problem" text;--> statement-breakpoint
ALTER TABLE "payment_subscriptions" ADD COLUMN "livemode" boolean;--> statement-breakpoint
DROP INDEX "payment_customers_current";--> statement-breakpoint
CREATE UNIQUE INDEX "payment_customers_current" ON "payment_customers" USING btree ("organisation_id","livemode") WHERE "payment_customers"."gone_at" is null;--> statement-breakpoint
-- An event that told a state was of the mode of the key of its time. Its text is read without
-- escapes, because the database refuses some of them that JSON allows.
UPDATE "payment_subscriptions" SET "livemode" = (
	SELECT regexp_replace("payload", '\\(u[0-9a-fA-F]{4}|.)', '', 'g')::json ->> 'livemode' = 'true' FROM "payment_events"
	WHERE "subscription_id" = "payment_subscriptions"."id" AND "standing" IS NOT NULL LIMIT 1
);--> statement-breakpoint
UPDATE "payment_customers" SET "livemode" = "told"."livemode" FROM "payment_subscriptions" AS "told"
WHERE "told"."customer_id" = "payment_customers"."customer_id" AND "told"."livemode" IS NOT NULL;--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "demo" boolean DEFAULT false NOT NULL;--> statement-breakpoint
UPDATE "users" SET "demo" = true WHERE "email" IN ('operator@gatehouse.example', 'owner@larch.example', 'owner@harbour.example');--> statement-breakpoint
CREATE TABLE "known_browsers" (
	"token_hash" text NOT NULL,
	"user_id" uuid NOT NULL,
	"signed_in_at" timestamp with time zone NOT NULL,
	CONSTRAINT "known_browsers_token_hash_user_id_pk" PRIMARY KEY("token_hash","user_id")
);
--> statement-breakpoint
ALTER TABLE "known_browsers" ADD CONSTRAINT "known_browsers_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "known_browsers_user" ON "known_browsers" USING btree ("user_id","signed_in_at");--> statement-breakpoint
CREATE INDEX "known_browsers_signed_in" ON "known_browsers" USING btree ("signed_in_at");--> statement-breakpoint
-- Tokens of pages live for 15 minutes; those of the earlier pages belong to no link and end here.
DELETE FROM "one_time_tokens" WHERE "purpose" <> 'password-link';--> statement-breakpoint
-- Sign-ups for an account that is verified already never become valid.
UPDATE "sign_ups" SET "used_at" = now() FROM "users" WHERE "users"."id" = "sign_ups"."user_id" AND "sign_ups"."used_at" IS NULL AND "users"."email_verified_at" IS NOT NULL;--> statement-breakpoint
ALTER TABLE "verification_links" DROP CONSTRAINT "verification_links_purpose";--> statement-breakpoint
ALTER TABLE "verification_links" ADD CONSTRAINT "verification_links_purpose" CHECK ("verification_links"."purpose" in ('sign-up', 'change-address', 'lost-password'));--> statement-breakpoint
ALTER TABLE "one_time_tokens" DROP CONSTRAINT "one_time_tokens_purpose";--> statement-breakpoint
ALTER TABLE "one_time_tokens" ADD CONSTRAINT "one_time_tokens_purpose" CHECK ("one_time_tokens"."purpose" in ('password-link', 'new-password', 'keep-password', 'change-address', 'approval'));--> statement-breakpoint
ALTER TABLE "one_time_tokens" ADD COLUMN "link_hash" text;--> statement-breakpoint
ALTER TABLE "one_time_tokens" ADD CONSTRAINT "one_time_tokens_link_hash_verification_links_token_hash_fk" FOREIGN KEY ("link_hash") REFERENCES "public"."verification_links"("token_hash") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "one_time_tokens_link" ON "one_time_tokens" USING btree ("link_hash");--> statement-breakpoint
CREATE TABLE "identities" (
	"user_id" uuid NOT NULL,
	"issuer" text,
	"subject" text NOT NULL,
	"linked_at" timestamp with time zone NOT NULL,
	"unlinked_at" timestamp with time zone,
	CONSTRAINT "identities_subject" UNIQUE NULLS NOT DISTINCT("issuer","subject")
);
--> statement-breakpoint
ALTER TABLE "users" DROP CONSTRAINT "users_idp_subject_unique";--> statement-breakpoint
ALTER TABLE "sign_in_attempts" ADD COLUMN "user_id" uuid;--> statement-breakpoint
ALTER TABLE "verification_links" ADD COLUMN "from_known_browser" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "identities" ADD CONSTRAINT "identities_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "identities_linked" ON "identities" USING btree ("user_id") WHERE "identities"."unlinked_at" is null;--> statement-breakpoint
CREATE INDEX "identities_user" ON "identities" USING btree ("user_id");--> statement-breakpoint
ALTER TABLE "sign_in_attempts" ADD CONSTRAINT "sign_in_attempts_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "users_unusual_address" ON "users" USING btree ("id") WHERE "users"."email" ~ '[^ -~]|[@.]xn--|[.](0x[0-9a-f]*|[0-9]+)$';--> statement-breakpoint
CREATE INDEX "verification_links_email" ON "verification_links" USING btree ("email","created_at");--> statement-breakpoint
INSERT INTO "identities" ("user_id", "subject", "linked_at") SELECT "id", "idp_subject", coalesce("email_verified_at", "created_at") FROM "users" WHERE "idp_subject" IS NOT NULL;--> statement-breakpoint
ALTER TABLE "users" DROP COLUMN "idp_subject";--> statement-breakpoint
DELETE FROM "verification_links" WHERE "purpose" = 'change-address' AND "email" ~ '[^ -~]';
