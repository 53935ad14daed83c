CREATE TABLE "audit_events" (
	"id" uuid PRIMARY KEY NOT NULL,
	"at" timestamp with time zone NOT NULL,
	"action" text NOT NULL,
	"actor_id" uuid,
	"user_id" uuid,
	"organisation_id" uuid,
	"client" text,
	"user_agent" text,
	"details" jsonb DEFAULT '{}'::jsonb NOT NULL
);
--> statement-breakpoint
CREATE TABLE "memberships" (
	"user_id" uuid NOT NULL,
	"organisation_id" uuid NOT NULL,
	"role" text NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	CONSTRAINT "memberships_user_id_organisation_id_pk" PRIMARY KEY("user_id","organisation_id"),
	CONSTRAINT "memberships_role" CHECK ("memberships"."role" in ('owner', 'admin', 'member', 'viewer'))
);
--> statement-breakpoint
CREATE TABLE "one_time_tokens" (
	"token_hash" text PRIMARY KEY NOT NULL,
	"user_id" uuid NOT NULL,
	"purpose" text NOT NULL,
	"created_by" uuid,
	"created_at" timestamp with time zone NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	CONSTRAINT "one_time_tokens_purpose" CHECK ("one_time_tokens"."purpose" in ('password-link', 'first-password', 'approval'))
);
--> statement-breakpoint
CREATE TABLE "organisations" (
	"id" uuid PRIMARY KEY NOT NULL,
	"slug" text NOT NULL,
	"name" text,
	"approval" text DEFAULT 'pending' NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"approved_at" timestamp with time zone,
	"declined_at" timestamp with time zone,
	"decline_reason" text,
	"suspended_at" timestamp with time zone,
	CONSTRAINT "organisations_slug_unique" UNIQUE("slug"),
	CONSTRAINT "organisations_approval" CHECK ("organisations"."approval" in ('pending', 'approved', 'declined'))
);
--> statement-breakpoint
CREATE TABLE "payment_checkouts" (
	"id" text PRIMARY KEY NOT NULL,
	"organisation_id" uuid NOT NULL,
	"price_id" text NOT NULL,
	"opened_at" timestamp with time zone NOT NULL,
	"closed_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "payment_customers" (
	"organisation_id" uuid NOT NULL,
	"generation" integer NOT NULL,
	"customer_id" text,
	"created_at" timestamp with time zone NOT NULL,
	"gone_at" timestamp with time zone,
	CONSTRAINT "payment_customers_organisation_id_generation_pk" PRIMARY KEY("organisation_id","generation"),
	CONSTRAINT "payment_customers_customer_id_unique" UNIQUE("customer_id")
);
--> statement-breakpoint
CREATE TABLE "payment_events" (
	"id" text PRIMARY KEY NOT NULL,
	"number" bigint GENERATED ALWAYS AS IDENTITY (sequence name "payment_events_number_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"type" text NOT NULL,
	"created" bigint NOT NULL,
	"received_at" timestamp with time zone NOT NULL,
	"organisation_id" uuid,
	"customer_id" text,
	"subscription_id" text,
	"invoice_id" text,
	"standing" text,
	"handled" boolean NOT NULL,
	"outcome" text NOT NULL,
	"flagged" boolean DEFAULT false NOT NULL,
	"payload" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "payment_known_prices" (
	"price_id" text PRIMARY KEY NOT NULL,
	"product_id" text,
	"tier" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "payment_leases" (
	"name" text PRIMARY KEY NOT NULL,
	"holder" uuid NOT NULL,
	"ends_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "payment_live_prices" (
	"tier" text PRIMARY KEY NOT NULL,
	"amount" bigint,
	"currency" text,
	"interval" text,
	"looked_up_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "payment_settings" (
	"name" text PRIMARY KEY NOT NULL,
	"value" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "payment_subscriptions" (
	"id" text PRIMARY KEY NOT NULL,
	"organisation_id" uuid NOT NULL,
	"customer_id" text NOT NULL,
	"status" text,
	"ended" boolean DEFAULT false NOT NULL,
	"tier" text,
	"tier_source" text,
	"price_id" text,
	"cancel_at_period_end" boolean DEFAULT false NOT NULL,
	"current_period_end" timestamp with time zone,
	"ends_at" timestamp with time zone,
	"started_at" timestamp with time zone,
	"past_due_since" timestamp with time zone,
	"snapshot" text,
	"snapshot_number" bigint,
	"snapshot_past_due_since" timestamp with time zone,
	"settled_number" bigint DEFAULT 0 NOT NULL,
	"last_event_number" bigint DEFAULT 0 NOT NULL,
	"needs_sync" boolean DEFAULT false NOT NULL,
	"synced_at" timestamp with time zone,
	"problem" text
);
--> statement-breakpoint
CREATE TABLE "rate_limits" (
	"key" text PRIMARY KEY NOT NULL,
	"points" integer DEFAULT 0 NOT NULL,
	"expire" bigint
);
--> statement-breakpoint
CREATE TABLE "sessions" (
	"id_hash" text PRIMARY KEY NOT NULL,
	"id" uuid NOT NULL,
	"shared_hash" text,
	"user_id" uuid NOT NULL,
	"organisation_id" uuid,
	"created_at" timestamp with time zone NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"user_agent" text,
	"client" text,
	CONSTRAINT "sessions_id_unique" UNIQUE("id"),
	CONSTRAINT "sessions_shared_hash_unique" UNIQUE("shared_hash")
);
--> statement-breakpoint
CREATE TABLE "sign_in_attempts" (
	"id_hash" text PRIMARY KEY NOT NULL,
	"state" text NOT NULL,
	"nonce" text NOT NULL,
	"code_verifier" text,
	"expires_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "sign_ups" (
	"id" uuid PRIMARY KEY NOT NULL,
	"user_id" uuid NOT NULL,
	"password_hash" text NOT NULL,
	"organisation_name" text,
	"browser_hash" text NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"used_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "usage" (
	"organisation_id" uuid NOT NULL,
	"meter" text NOT NULL,
	"since" timestamp with time zone NOT NULL,
	"used" bigint NOT NULL,
	CONSTRAINT "usage_organisation_id_meter_since_pk" PRIMARY KEY("organisation_id","meter","since")
);
--> statement-breakpoint
CREATE TABLE "users" (
	"id" uuid PRIMARY KEY NOT NULL,
	"email" text NOT NULL,
	"email_verified_at" timestamp with time zone,
	"name" text,
	"password_hash" text,
	"idp_subject" text,
	"operator" boolean DEFAULT false NOT NULL,
	"onboarded_at" timestamp with time zone,
	"suspended_at" timestamp with time zone,
	"last_organisation_id" uuid,
	"created_at" timestamp with time zone NOT NULL,
	CONSTRAINT "users_email_unique" UNIQUE("email"),
	CONSTRAINT "users_idp_subject_unique" UNIQUE("idp_subject")
);
--> statement-breakpoint
CREATE TABLE "verification_links" (
	"token_hash" text PRIMARY KEY NOT NULL,
	"user_id" uuid NOT NULL,
	"sign_up_id" uuid,
	"purpose" text NOT NULL,
	"email" text NOT NULL,
	"kept_session_id" uuid,
	"created_at" timestamp with time zone NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"used_at" timestamp with time zone,
	CONSTRAINT "verification_links_purpose" CHECK ("verification_links"."purpose" in ('sign-up', 'change-address'))
);
--> statement-breakpoint
CREATE TABLE "ways_back" (
	"id_hash" text PRIMARY KEY NOT NULL,
	"url" text NOT NULL,
	"expires_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "memberships" ADD CONSTRAINT "memberships_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "memberships" ADD CONSTRAINT "memberships_organisation_id_organisations_id_fk" FOREIGN KEY ("organisation_id") REFERENCES "public"."organisations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "one_time_tokens" ADD CONSTRAINT "one_time_tokens_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "payment_checkouts" ADD CONSTRAINT "payment_checkouts_organisation_id_organisations_id_fk" FOREIGN KEY ("organisation_id") REFERENCES "public"."organisations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "payment_customers" ADD CONSTRAINT "payment_customers_organisation_id_organisations_id_fk" FOREIGN KEY ("organisation_id") REFERENCES "public"."organisations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "payment_subscriptions" ADD CONSTRAINT "payment_subscriptions_organisation_id_organisations_id_fk" FOREIGN KEY ("organisation_id") REFERENCES "public"."organisations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_organisation_id_organisations_id_fk" FOREIGN KEY ("organisation_id") REFERENCES "public"."organisations"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sign_ups" ADD CONSTRAINT "sign_ups_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "usage" ADD CONSTRAINT "usage_organisation_id_organisations_id_fk" FOREIGN KEY ("organisation_id") REFERENCES "public"."organisations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "users" ADD CONSTRAINT "users_last_organisation_id_organisations_id_fk" FOREIGN KEY ("last_organisation_id") REFERENCES "public"."organisations"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "verification_links" ADD CONSTRAINT "verification_links_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "verification_links" ADD CONSTRAINT "verification_links_sign_up_id_sign_ups_id_fk" FOREIGN KEY ("sign_up_id") REFERENCES "public"."sign_ups"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "audit_events_user" ON "audit_events" USING btree ("user_id","at");--> statement-breakpoint
CREATE INDEX "audit_events_organisation" ON "audit_events" USING btree ("organisation_id","at");--> statement-breakpoint
CREATE INDEX "audit_events_at" ON "audit_events" USING btree ("at");--> statement-breakpoint
CREATE INDEX "memberships_organisation" ON "memberships" USING btree ("organisation_id");--> statement-breakpoint
CREATE INDEX "one_time_tokens_user" ON "one_time_tokens" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "organisations_pending" ON "organisations" USING btree ("created_at") WHERE "organisations"."approval" = 'pending';--> statement-breakpoint
CREATE INDEX "payment_checkouts_organisation" ON "payment_checkouts" USING btree ("organisation_id");--> statement-breakpoint
CREATE UNIQUE INDEX "payment_customers_current" ON "payment_customers" USING btree ("organisation_id") WHERE "payment_customers"."gone_at" is null;--> statement-breakpoint
CREATE INDEX "payment_events_newest" ON "payment_events" USING btree ("subscription_id","created") WHERE "payment_events"."standing" is not null;--> statement-breakpoint
CREATE INDEX "payment_events_standing" ON "payment_events" USING btree ("subscription_id","standing","created","id") WHERE "payment_events"."standing" is not null;--> statement-breakpoint
CREATE INDEX "payment_events_invoice" ON "payment_events" USING btree ("invoice_id") WHERE "payment_events"."invoice_id" is not null;--> statement-breakpoint
CREATE INDEX "payment_events_organisation" ON "payment_events" USING btree ("organisation_id","created");--> statement-breakpoint
CREATE INDEX "payment_events_received" ON "payment_events" USING btree ("received_at");--> statement-breakpoint
CREATE INDEX "payment_subscriptions_organisation" ON "payment_subscriptions" USING btree ("organisation_id","ended","started_at");--> statement-breakpoint
CREATE INDEX "payment_subscriptions_sync" ON "payment_subscriptions" USING btree ("synced_at") WHERE "payment_subscriptions"."needs_sync";--> statement-breakpoint
CREATE INDEX "payment_subscriptions_end" ON "payment_subscriptions" USING btree ("ends_at") WHERE not "payment_subscriptions"."ended";--> statement-breakpoint
CREATE INDEX "payment_subscriptions_period" ON "payment_subscriptions" USING btree ("current_period_end") WHERE not "payment_subscriptions"."ended";--> statement-breakpoint
CREATE INDEX "sessions_user" ON "sessions" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "sessions_expiry" ON "sessions" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "sign_in_attempts_expiry" ON "sign_in_attempts" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "sign_ups_user" ON "sign_ups" USING btree ("user_id","created_at");--> statement-breakpoint
CREATE INDEX "users_unverified" ON "users" USING btree ("created_at") WHERE "users"."email_verified_at" is null;--> statement-breakpoint
CREATE INDEX "verification_links_user" ON "verification_links" USING btree ("user_id","created_at");--> statement-breakpoint
CREATE INDEX "ways_back_expiry" ON "ways_back" USING btree ("expires_at");