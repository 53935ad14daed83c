CREATE TABLE "identities" (
	"user_id" uuid NOT NULL,
	"issuer" text NOT NULL,
	"subject" text NOT NULL,
	"email" text,
	"linked_at" timestamp with time zone NOT NULL,
	"unlinked_at" timestamp with time zone,
	"counts_as_factor" boolean DEFAULT false NOT NULL,
	CONSTRAINT "identities_subject" UNIQUE("issuer","subject")
);
--> statement-breakpoint
CREATE TABLE "known_browsers" (
	"token_hash" text NOT NULL,
	"user_id" uuid NOT NULL,
	"signed_in_at" timestamp with time zone NOT NULL,
	"first_signed_in_at" timestamp with time zone NOT NULL,
	"user_agent" text,
	"client" text,
	"acknowledged_at" timestamp with time zone,
	"trusted_until" timestamp with time zone,
	CONSTRAINT "known_browsers_token_hash_user_id_pk" PRIMARY KEY("token_hash","user_id")
);
--> statement-breakpoint
CREATE TABLE "one_time_tokens" (
	"token_hash" text PRIMARY KEY NOT NULL,
	"user_id" uuid NOT NULL,
	"purpose" text NOT NULL,
	"link_hash" text,
	"created_by" uuid,
	"created_at" timestamp with time zone NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	CONSTRAINT "one_time_tokens_purpose" CHECK ("one_time_tokens"."purpose" in ('password-link', 'new-password', 'keep-password', 'change-address', 'approval'))
);
--> statement-breakpoint
CREATE TABLE "sign_ups" (
	"id" uuid PRIMARY KEY NOT NULL,
	"user_id" uuid NOT NULL,
	"password_hash" text NOT NULL,
	"organisation_name" text,
	"invited" boolean DEFAULT false NOT NULL,
	"browser_hash" text NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"used_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "users" (
	"id" uuid PRIMARY KEY NOT NULL,
	"email" text NOT NULL,
	"email_verified_at" timestamp with time zone,
	"name" text,
	"password_hash" text,
	"operator" boolean DEFAULT false NOT NULL,
	"invited_only" boolean DEFAULT false NOT NULL,
	"demo" boolean DEFAULT false NOT NULL,
	"onboarded_at" timestamp with time zone,
	"suspended_at" timestamp with time zone,
	"passkey_handle" text,
	"review_since" timestamp with time zone,
	"factor_due_at" timestamp with time zone,
	"last_organisation_id" uuid,
	"created_at" timestamp with time zone NOT NULL,
	CONSTRAINT "users_email_unique" UNIQUE("email"),
	CONSTRAINT "users_passkey_handle_unique" UNIQUE("passkey_handle")
);
--> statement-breakpoint
CREATE TABLE "verification_links" (
	"token_hash" text PRIMARY KEY NOT NULL,
	"user_id" uuid NOT NULL,
	"sign_up_id" uuid,
	"purpose" text NOT NULL,
	"email" text NOT NULL,
	"kept_session_id" uuid,
	"revokes_keys" boolean DEFAULT false NOT NULL,
	"job_id" uuid,
	"from_known_browser" boolean DEFAULT false NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"sent_at" timestamp with time zone,
	"expires_at" timestamp with time zone NOT NULL,
	"used_at" timestamp with time zone,
	CONSTRAINT "verification_links_purpose" CHECK ("verification_links"."purpose" in ('sign-up', 'change-address', 'lost-password'))
);
--> statement-breakpoint
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
CREATE TABLE "organisation_plans" (
	"organisation_id" uuid PRIMARY KEY NOT NULL,
	"tier" text NOT NULL,
	"source" text NOT NULL,
	"since" timestamp with time zone NOT NULL,
	"subscription_id" text,
	"status" text,
	"cancel_at_period_end" boolean DEFAULT false NOT NULL,
	"current_period_start" timestamp with time zone,
	"current_period_end" timestamp with time zone,
	"ends_at" timestamp with time zone,
	"started_at" timestamp with time zone,
	"valid_until" timestamp with time zone,
	"next_tier" text
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
	"organisation_id" uuid PRIMARY KEY NOT NULL,
	"number" integer DEFAULT 1 NOT NULL,
	"customer_id" text,
	"created_at" timestamp with time zone NOT NULL,
	"gone_at" timestamp with time zone,
	"contact_email" text,
	"problem" text,
	CONSTRAINT "payment_customers_customer_id_unique" UNIQUE("customer_id")
);
--> statement-breakpoint
CREATE TABLE "payment_disputes" (
	"id" text PRIMARY KEY NOT NULL,
	"organisation_id" uuid NOT NULL,
	"subscription_id" text NOT NULL,
	"invoiced_at" bigint NOT NULL,
	"status" text NOT NULL,
	"paid_since" boolean NOT NULL
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
	"handled" boolean NOT NULL,
	"outcome" text NOT NULL,
	"flagged" boolean DEFAULT false NOT NULL,
	"payload" text
);
--> statement-breakpoint
CREATE TABLE "payment_invoices" (
	"id" text PRIMARY KEY NOT NULL,
	"organisation_id" uuid NOT NULL,
	"subscription_id" text,
	"problem" text,
	"url" text,
	"amount" bigint,
	"currency" text,
	"next_attempt_at" timestamp with time zone,
	"noted_at" bigint NOT NULL,
	"settled" boolean DEFAULT false NOT NULL
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
	"sold" boolean DEFAULT true NOT NULL,
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
	"amount" bigint,
	"currency" text,
	"interval" text,
	"quantity" bigint,
	"cancel_at_period_end" boolean DEFAULT false NOT NULL,
	"current_period_start" timestamp with time zone,
	"current_period_end" timestamp with time zone,
	"ends_at" timestamp with time zone,
	"started_at" timestamp with time zone,
	"collection_paused" boolean DEFAULT false NOT NULL,
	"invoice_trouble" text,
	"disputed" boolean DEFAULT false NOT NULL,
	"payment_method" text,
	"credit" bigint DEFAULT 0 NOT NULL,
	"next_tier_at" timestamp with time zone,
	"next_tier" text,
	"past_due_since" timestamp with time zone,
	"state_at" bigint,
	"undone" jsonb,
	"version" integer DEFAULT 0 NOT NULL,
	"needs_sync" boolean DEFAULT false NOT NULL,
	"synced_at" timestamp with time zone,
	"problem" text
);
--> statement-breakpoint
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
CREATE TABLE "deployment_secrets" (
	"name" text PRIMARY KEY NOT NULL,
	"value" text NOT NULL,
	"encrypted_by" text DEFAULT '' NOT NULL
);
--> statement-breakpoint
CREATE TABLE "job_successes" (
	"kind" text PRIMARY KEY NOT NULL,
	"at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "rate_limits" (
	"key" text PRIMARY KEY NOT NULL,
	"points" integer DEFAULT 0 NOT NULL,
	"expire" bigint
);
--> statement-breakpoint
CREATE TABLE "passkeys" (
	"id" uuid PRIMARY KEY NOT NULL,
	"user_id" uuid NOT NULL,
	"credential_id" text NOT NULL,
	"public_key" text NOT NULL,
	"counter" bigint NOT NULL,
	"transports" json NOT NULL,
	"name" text NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"last_used_at" timestamp with time zone,
	"refused_at" timestamp with time zone,
	CONSTRAINT "passkeys_credential_id_unique" UNIQUE("credential_id")
);
--> statement-breakpoint
CREATE TABLE "recovery_codes" (
	"user_id" uuid NOT NULL,
	"code_hash" text NOT NULL,
	CONSTRAINT "recovery_codes_user_id_code_hash_pk" PRIMARY KEY("user_id","code_hash")
);
--> statement-breakpoint
CREATE TABLE "step_attempts" (
	"id_hash" text PRIMARY KEY NOT NULL,
	"user_id" uuid NOT NULL,
	"organisation_id" uuid,
	"idp_subject" text,
	"linking" json,
	"browser_hash" text NOT NULL,
	"wrong_answers" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"ended_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "totp_secrets" (
	"id" uuid PRIMARY KEY NOT NULL,
	"user_id" uuid NOT NULL,
	"secret" text NOT NULL,
	"encrypted_by" text NOT NULL,
	"last_step" bigint DEFAULT 0 NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"confirmed_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "used_challenges" (
	"challenge_hash" text PRIMARY KEY NOT NULL,
	"expires_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "wrong_codes" (
	"id" uuid PRIMARY KEY NOT NULL,
	"user_id" uuid NOT NULL,
	"browser_hash" text NOT NULL,
	"at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "api_keys" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organisation_id" uuid,
	"name" text NOT NULL,
	"hash" text NOT NULL,
	"hint" text NOT NULL,
	"scope" text NOT NULL,
	"by_operator" boolean DEFAULT false NOT NULL,
	"created_by" uuid,
	"created_at" timestamp with time zone NOT NULL,
	"expires_at" timestamp with time zone,
	"last_used_at" timestamp with time zone,
	"revoked_at" timestamp with time zone,
	CONSTRAINT "api_keys_hash_unique" UNIQUE("hash"),
	CONSTRAINT "api_keys_scope" CHECK ("api_keys"."scope" in ('READ', 'WRITE'))
);
--> statement-breakpoint
CREATE TABLE "invitations" (
	"id" uuid PRIMARY KEY NOT NULL,
	"token_hash" text NOT NULL,
	"organisation_id" uuid NOT NULL,
	"made_by" uuid NOT NULL,
	"role" text NOT NULL,
	"note" text,
	"created_at" timestamp with time zone NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	CONSTRAINT "invitations_token_hash_unique" UNIQUE("token_hash"),
	CONSTRAINT "invitations_role" CHECK ("invitations"."role" in ('admin', 'member', 'viewer'))
);
--> statement-breakpoint
CREATE TABLE "memberships" (
	"user_id" uuid NOT NULL,
	"organisation_id" uuid NOT NULL,
	"role" text NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"invited_by" uuid,
	"last_seen_at" timestamp with time zone,
	CONSTRAINT "memberships_user_id_organisation_id_pk" PRIMARY KEY("user_id","organisation_id"),
	CONSTRAINT "memberships_role" CHECK ("memberships"."role" in ('owner', 'admin', 'member', 'viewer'))
);
--> statement-breakpoint
CREATE TABLE "organisations" (
	"id" uuid PRIMARY KEY NOT NULL,
	"slug" text NOT NULL,
	"name" text,
	"billing_email" text,
	"billing_name" text,
	"approval" text DEFAULT 'pending' NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"approved_at" timestamp with time zone,
	"declined_at" timestamp with time zone,
	"decline_reason" text,
	"second_factor_from" timestamp with time zone,
	"suspended_at" timestamp with time zone,
	CONSTRAINT "organisations_slug_unique" UNIQUE("slug"),
	CONSTRAINT "organisations_approval" CHECK ("organisations"."approval" in ('pending', 'approved', 'declined'))
);
--> statement-breakpoint
CREATE TABLE "sessions" (
	"id_hash" text PRIMARY KEY NOT NULL,
	"id" uuid NOT NULL,
	"shared_hash" text,
	"user_id" uuid NOT NULL,
	"organisation_id" uuid,
	"idp_subject" text,
	"by_passkey" boolean DEFAULT false NOT NULL,
	"identity_factor" boolean DEFAULT false NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"last_used_at" timestamp with time zone NOT NULL,
	"fresh_until" timestamp with time zone,
	"fresh_by_factor" boolean DEFAULT false NOT NULL,
	"provider_confirmed_until" timestamp with time zone,
	"step_hash" text,
	"user_agent" text,
	"client" text,
	"returned_to" text,
	"returned_at" timestamp with time zone,
	CONSTRAINT "sessions_id_unique" UNIQUE("id"),
	CONSTRAINT "sessions_shared_hash_unique" UNIQUE("shared_hash")
);
--> statement-breakpoint
CREATE TABLE "return_urls" (
	"id_hash" text PRIMARY KEY NOT NULL,
	"url" text NOT NULL,
	"expires_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "sign_in_attempts" (
	"id_hash" text PRIMARY KEY NOT NULL,
	"state" text NOT NULL,
	"nonce" text NOT NULL,
	"code_verifier" text,
	"user_id" uuid,
	"fresh_session_id" uuid,
	"return_to" text,
	"created_at" timestamp with time zone NOT NULL,
	"expires_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "token_keys" (
	"id" uuid PRIMARY KEY NOT NULL,
	"public_key" jsonb NOT NULL,
	"private_key" text NOT NULL,
	"encrypted_by" text NOT NULL,
	"signs_from" timestamp with time zone NOT NULL,
	"signs_until" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "usage" (
	"organisation_id" uuid NOT NULL,
	"meter" text NOT NULL,
	"since" timestamp with time zone NOT NULL,
	"used" bigint NOT NULL,
	"day" date DEFAULT '1970-01-01' NOT NULL,
	"day_used" bigint DEFAULT 0 NOT NULL,
	"granted" boolean DEFAULT true NOT NULL,
	"own_reserved" bigint DEFAULT 0 NOT NULL,
	"set_at" timestamp with time zone,
	CONSTRAINT "usage_organisation_id_meter_since_pk" PRIMARY KEY("organisation_id","meter","since")
);
--> statement-breakpoint
CREATE TABLE "usage_days" (
	"organisation_id" uuid NOT NULL,
	"meter" text NOT NULL,
	"day" date NOT NULL,
	"used" bigint NOT NULL,
	CONSTRAINT "usage_days_organisation_id_meter_day_pk" PRIMARY KEY("organisation_id","meter","day")
);
--> statement-breakpoint
CREATE TABLE "usage_key_counts" (
	"organisation_id" uuid PRIMARY KEY NOT NULL,
	"hour" timestamp with time zone NOT NULL,
	"keys" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "usage_requests" (
	"organisation_id" uuid NOT NULL,
	"meter" text NOT NULL,
	"key" text NOT NULL,
	"content" text NOT NULL,
	"at" timestamp with time zone NOT NULL,
	"granted" boolean NOT NULL,
	"used" bigint NOT NULL,
	"tier" text,
	"plan_limit" bigint,
	"resets_at" timestamp with time zone,
	CONSTRAINT "usage_requests_organisation_id_meter_key_pk" PRIMARY KEY("organisation_id","meter","key")
);
--> statement-breakpoint
ALTER TABLE "identities" ADD CONSTRAINT "identities_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "known_browsers" ADD CONSTRAINT "known_browsers_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "one_time_tokens" ADD CONSTRAINT "one_time_tokens_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "one_time_tokens" ADD CONSTRAINT "one_time_tokens_link_hash_verification_links_token_hash_fk" FOREIGN KEY ("link_hash") REFERENCES "public"."verification_links"("token_hash") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sign_ups" ADD CONSTRAINT "sign_ups_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "users" ADD CONSTRAINT "users_last_organisation_id_organisations_id_fk" FOREIGN KEY ("last_organisation_id") REFERENCES "public"."organisations"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "verification_links" ADD CONSTRAINT "verification_links_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "verification_links" ADD CONSTRAINT "verification_links_sign_up_id_sign_ups_id_fk" FOREIGN KEY ("sign_up_id") REFERENCES "public"."sign_ups"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "organisation_plans" ADD CONSTRAINT "organisation_plans_organisation_id_organisations_id_fk" FOREIGN KEY ("organisation_id") REFERENCES "public"."organisations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "payment_checkouts" ADD CONSTRAINT "payment_checkouts_organisation_id_organisations_id_fk" FOREIGN KEY ("organisation_id") REFERENCES "public"."organisations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "payment_customers" ADD CONSTRAINT "payment_customers_organisation_id_organisations_id_fk" FOREIGN KEY ("organisation_id") REFERENCES "public"."organisations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "payment_disputes" ADD CONSTRAINT "payment_disputes_organisation_id_organisations_id_fk" FOREIGN KEY ("organisation_id") REFERENCES "public"."organisations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "payment_invoices" ADD CONSTRAINT "payment_invoices_organisation_id_organisations_id_fk" FOREIGN KEY ("organisation_id") REFERENCES "public"."organisations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "payment_subscriptions" ADD CONSTRAINT "payment_subscriptions_organisation_id_organisations_id_fk" FOREIGN KEY ("organisation_id") REFERENCES "public"."organisations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "passkeys" ADD CONSTRAINT "passkeys_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "recovery_codes" ADD CONSTRAINT "recovery_codes_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "step_attempts" ADD CONSTRAINT "step_attempts_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "totp_secrets" ADD CONSTRAINT "totp_secrets_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "wrong_codes" ADD CONSTRAINT "wrong_codes_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_organisation_id_organisations_id_fk" FOREIGN KEY ("organisation_id") REFERENCES "public"."organisations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_created_by_users_id_fk" FOREIGN KEY ("created_by") REFERENCES "public"."users"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invitations" ADD CONSTRAINT "invitations_maker" FOREIGN KEY ("made_by","organisation_id") REFERENCES "public"."memberships"("user_id","organisation_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "memberships" ADD CONSTRAINT "memberships_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "memberships" ADD CONSTRAINT "memberships_organisation_id_organisations_id_fk" FOREIGN KEY ("organisation_id") REFERENCES "public"."organisations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "memberships" ADD CONSTRAINT "memberships_invited_by_users_id_fk" FOREIGN KEY ("invited_by") REFERENCES "public"."users"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_organisation_id_organisations_id_fk" FOREIGN KEY ("organisation_id") REFERENCES "public"."organisations"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_step_hash_step_attempts_id_hash_fk" FOREIGN KEY ("step_hash") REFERENCES "public"."step_attempts"("id_hash") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sign_in_attempts" ADD CONSTRAINT "sign_in_attempts_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "usage" ADD CONSTRAINT "usage_organisation_id_organisations_id_fk" FOREIGN KEY ("organisation_id") REFERENCES "public"."organisations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "usage_days" ADD CONSTRAINT "usage_days_organisation_id_organisations_id_fk" FOREIGN KEY ("organisation_id") REFERENCES "public"."organisations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "usage_key_counts" ADD CONSTRAINT "usage_key_counts_organisation_id_organisations_id_fk" FOREIGN KEY ("organisation_id") REFERENCES "public"."organisations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "identities_linked" ON "identities" USING btree ("user_id") WHERE "identities"."unlinked_at" is null;--> statement-breakpoint
CREATE INDEX "identities_user" ON "identities" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "known_browsers_user" ON "known_browsers" USING btree ("user_id","signed_in_at");--> statement-breakpoint
CREATE INDEX "known_browsers_signed_in" ON "known_browsers" USING btree ("signed_in_at");--> statement-breakpoint
CREATE INDEX "one_time_tokens_user" ON "one_time_tokens" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "one_time_tokens_link" ON "one_time_tokens" USING btree ("link_hash");--> statement-breakpoint
CREATE INDEX "one_time_tokens_creator" ON "one_time_tokens" USING btree ("created_by") WHERE "one_time_tokens"."created_by" is not null;--> statement-breakpoint
CREATE INDEX "sign_ups_user" ON "sign_ups" USING btree ("user_id","created_at");--> statement-breakpoint
CREATE INDEX "users_last_organisation" ON "users" USING btree ("last_organisation_id");--> statement-breakpoint
CREATE INDEX "users_domain" ON "users" USING btree (split_part("email", '@', 2));--> statement-breakpoint
CREATE INDEX "users_email_beginning" ON "users" USING btree ("email" text_pattern_ops);--> statement-breakpoint
CREATE INDEX "users_name_beginning" ON "users" USING btree (lower("name") text_pattern_ops);--> statement-breakpoint
CREATE INDEX "users_invited_only" ON "users" USING btree ("created_at") WHERE "users"."invited_only";--> statement-breakpoint
CREATE INDEX "users_operators" ON "users" USING btree ("id") WHERE "users"."operator";--> statement-breakpoint
CREATE INDEX "users_unverified" ON "users" USING btree ("created_at") WHERE "users"."email_verified_at" is null;--> statement-breakpoint
CREATE INDEX "users_demo" ON "users" USING btree ("email") WHERE "users"."demo";--> statement-breakpoint
CREATE INDEX "verification_links_user" ON "verification_links" USING btree ("user_id","created_at");--> statement-breakpoint
CREATE INDEX "verification_links_email" ON "verification_links" USING btree ("email","created_at");--> statement-breakpoint
CREATE INDEX "verification_links_sign_up" ON "verification_links" USING btree ("sign_up_id") WHERE "verification_links"."sign_up_id" is not null;--> statement-breakpoint
CREATE INDEX "audit_events_actor" ON "audit_events" USING btree ("actor_id","at");--> statement-breakpoint
CREATE INDEX "audit_events_user" ON "audit_events" USING btree ("user_id","at");--> statement-breakpoint
CREATE INDEX "audit_events_organisation" ON "audit_events" USING btree ("organisation_id","at");--> statement-breakpoint
CREATE INDEX "audit_events_at" ON "audit_events" USING btree ("at");--> statement-breakpoint
CREATE INDEX "organisation_plans_valid_until" ON "organisation_plans" USING btree ("valid_until");--> statement-breakpoint
CREATE INDEX "payment_checkouts_organisation" ON "payment_checkouts" USING btree ("organisation_id");--> statement-breakpoint
CREATE INDEX "payment_checkouts_open" ON "payment_checkouts" USING btree ("opened_at") WHERE "payment_checkouts"."closed_at" is null;--> statement-breakpoint
CREATE INDEX "payment_customers_contact_email" ON "payment_customers" USING btree ("contact_email") WHERE "payment_customers"."contact_email" is not null;--> statement-breakpoint
CREATE INDEX "payment_disputes_subscription" ON "payment_disputes" USING btree ("subscription_id");--> statement-breakpoint
CREATE INDEX "payment_disputes_organisation" ON "payment_disputes" USING btree ("organisation_id");--> statement-breakpoint
CREATE INDEX "payment_events_organisation" ON "payment_events" USING btree ("organisation_id","created");--> statement-breakpoint
CREATE INDEX "payment_events_received" ON "payment_events" USING btree ("received_at");--> statement-breakpoint
CREATE INDEX "payment_events_payload" ON "payment_events" USING btree ("received_at") WHERE "payment_events"."payload" is not null;--> statement-breakpoint
CREATE INDEX "payment_events_id" ON "payment_events" USING btree ("id" text_pattern_ops);--> statement-breakpoint
CREATE INDEX "payment_events_type" ON "payment_events" USING btree ("type" text_pattern_ops,"received_at");--> statement-breakpoint
CREATE INDEX "payment_events_customer" ON "payment_events" USING btree ("customer_id") WHERE "payment_events"."customer_id" is not null;--> statement-breakpoint
CREATE INDEX "payment_events_subscription" ON "payment_events" USING btree ("subscription_id") WHERE "payment_events"."subscription_id" is not null;--> statement-breakpoint
CREATE INDEX "payment_events_invoice" ON "payment_events" USING btree ("invoice_id") WHERE "payment_events"."invoice_id" is not null;--> statement-breakpoint
CREATE INDEX "payment_events_flagged" ON "payment_events" USING btree ("received_at") WHERE "payment_events"."flagged";--> statement-breakpoint
CREATE INDEX "payment_invoices_organisation" ON "payment_invoices" USING btree ("organisation_id","noted_at");--> statement-breakpoint
CREATE INDEX "payment_invoices_settled" ON "payment_invoices" USING btree ("noted_at") WHERE "payment_invoices"."settled";--> statement-breakpoint
CREATE INDEX "payment_subscriptions_organisation" ON "payment_subscriptions" USING btree ("organisation_id","ended","started_at");--> statement-breakpoint
CREATE INDEX "payment_subscriptions_sync" ON "payment_subscriptions" USING btree ("synced_at") WHERE "payment_subscriptions"."needs_sync";--> statement-breakpoint
CREATE INDEX "payment_subscriptions_active" ON "payment_subscriptions" USING btree ("organisation_id") WHERE "payment_subscriptions"."status" = 'active';--> statement-breakpoint
CREATE INDEX "payment_subscriptions_problem" ON "payment_subscriptions" USING btree ("id") WHERE "payment_subscriptions"."problem" is not null;--> statement-breakpoint
CREATE INDEX "payment_subscriptions_end" ON "payment_subscriptions" USING btree ("ends_at") WHERE not "payment_subscriptions"."ended";--> statement-breakpoint
CREATE INDEX "payment_subscriptions_period" ON "payment_subscriptions" USING btree ("current_period_end") WHERE not "payment_subscriptions"."ended";--> statement-breakpoint
CREATE UNIQUE INDEX "changes_position" ON "changes" USING btree ("position");--> statement-breakpoint
CREATE INDEX "changes_user" ON "changes" USING btree ("user_id") WHERE "changes"."user_id" is not null;--> statement-breakpoint
CREATE INDEX "changes_organisation" ON "changes" USING btree ("organisation_id","position");--> statement-breakpoint
CREATE INDEX "changes_unplaced" ON "changes" USING btree ("id") WHERE "changes"."position" is null;--> statement-breakpoint
CREATE INDEX "changes_at" ON "changes" USING btree ("at");--> statement-breakpoint
CREATE INDEX "passkeys_user" ON "passkeys" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "step_attempts_user" ON "step_attempts" USING btree ("user_id","created_at");--> statement-breakpoint
CREATE INDEX "step_attempts_expiry" ON "step_attempts" USING btree ("expires_at");--> statement-breakpoint
CREATE UNIQUE INDEX "totp_secrets_confirmed" ON "totp_secrets" USING btree ("user_id") WHERE "totp_secrets"."confirmed_at" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "totp_secrets_pending" ON "totp_secrets" USING btree ("user_id") WHERE "totp_secrets"."confirmed_at" is null;--> statement-breakpoint
CREATE INDEX "totp_secrets_user" ON "totp_secrets" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "totp_secrets_key" ON "totp_secrets" USING btree ("encrypted_by");--> statement-breakpoint
CREATE INDEX "used_challenges_expiry" ON "used_challenges" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "wrong_codes_user" ON "wrong_codes" USING btree ("user_id","at");--> statement-breakpoint
CREATE INDEX "wrong_codes_at" ON "wrong_codes" USING btree ("at");--> statement-breakpoint
CREATE INDEX "api_keys_organisation" ON "api_keys" USING btree ("organisation_id");--> statement-breakpoint
CREATE INDEX "api_keys_creator" ON "api_keys" USING btree ("created_by");--> statement-breakpoint
CREATE INDEX "invitations_organisation" ON "invitations" USING btree ("organisation_id","made_by");--> statement-breakpoint
CREATE INDEX "invitations_creator" ON "invitations" USING btree ("made_by");--> statement-breakpoint
CREATE INDEX "invitations_expiry" ON "invitations" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "memberships_organisation" ON "memberships" USING btree ("organisation_id","created_at","user_id");--> statement-breakpoint
CREATE INDEX "memberships_invited_by" ON "memberships" USING btree ("invited_by");--> statement-breakpoint
CREATE INDEX "organisations_slug_beginning" ON "organisations" USING btree ("slug" text_pattern_ops);--> statement-breakpoint
CREATE INDEX "organisations_name_beginning" ON "organisations" USING btree (lower("name") text_pattern_ops);--> statement-breakpoint
CREATE INDEX "organisations_billing_email" ON "organisations" USING btree ("billing_email") WHERE "organisations"."billing_email" is not null;--> statement-breakpoint
CREATE INDEX "organisations_pending" ON "organisations" USING btree ("created_at") WHERE "organisations"."approval" = 'pending';--> statement-breakpoint
CREATE INDEX "organisations_approved" ON "organisations" USING btree ("approved_at") WHERE "organisations"."approved_at" is not null;--> statement-breakpoint
CREATE INDEX "organisations_declined" ON "organisations" USING btree ("declined_at","id") WHERE "organisations"."declined_at" is not null;--> statement-breakpoint
CREATE INDEX "organisations_decided" ON "organisations" USING btree (coalesce("declined_at", "approved_at"),"id") WHERE "organisations"."approval" <> 'pending';--> statement-breakpoint
CREATE INDEX "sessions_user" ON "sessions" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "sessions_organisation" ON "sessions" USING btree ("organisation_id");--> statement-breakpoint
CREATE INDEX "sessions_step" ON "sessions" USING btree ("step_hash") WHERE "sessions"."step_hash" is not null;--> statement-breakpoint
CREATE INDEX "sessions_expiry" ON "sessions" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "return_urls_expiry" ON "return_urls" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "sign_in_attempts_user" ON "sign_in_attempts" USING btree ("user_id") WHERE "sign_in_attempts"."user_id" is not null;--> statement-breakpoint
CREATE INDEX "sign_in_attempts_expiry" ON "sign_in_attempts" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "token_keys_order" ON "token_keys" USING btree ("signs_from");--> statement-breakpoint
CREATE UNIQUE INDEX "token_keys_newest" ON "token_keys" USING btree ("encrypted_by") WHERE "token_keys"."signs_until" is null;--> statement-breakpoint
CREATE INDEX "usage_days_day" ON "usage_days" USING btree ("day");--> statement-breakpoint
CREATE INDEX "usage_requests_at" ON "usage_requests" USING btree ("at");
--> statement-breakpoint
-- Written by hand from here on: what the schema files cannot say.

-- What was written down stays as it was. Rows go only by their age (RETENTION_DAYS).
create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  raise exception 'audit_events is append-only';
end $$;
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
--> statement-breakpoint
insert into change_feed default values;
--> statement-breakpoint
-- The indexes by which the operator console finds parts of addresses and names. Where this role may not create the
-- extension or the server lacks it, searches find beginnings only, until these three statements are carried out.
do $$ begin
  create extension if not exists pg_trgm;
  create index users_parts on users using gin (email gin_trgm_ops, name gin_trgm_ops);
  create index organisations_parts on organisations using gin (slug gin_trgm_ops, name gin_trgm_ops);
exception when others then
  raise notice 'pg_trgm cannot be created: %', sqlerrm;
end $$;
