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
WHERE "told"."customer_id" = "payment_customers"."customer_id" AND "told"."livemode" IS NOT NULL;
