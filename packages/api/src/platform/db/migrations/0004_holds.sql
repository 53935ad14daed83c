CREATE TABLE "usage_holds" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organisation_id" uuid NOT NULL,
	"meter" text NOT NULL,
	"since" timestamp with time zone NOT NULL,
	"day" date NOT NULL,
	"amount" bigint NOT NULL,
	"is_own" boolean NOT NULL,
	"ends_at" timestamp with time zone NOT NULL,
	"outcome" text
);
--> statement-breakpoint
ALTER TABLE "usage" ADD COLUMN "on_hold" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "usage_requests" ADD COLUMN "hold" uuid;--> statement-breakpoint
CREATE INDEX "usage_holds_open" ON "usage_holds" USING btree ("organisation_id","meter","ends_at") WHERE "usage_holds"."outcome" is null;--> statement-breakpoint
CREATE INDEX "usage_holds_ends" ON "usage_holds" USING btree ("ends_at");