CREATE TABLE "usage_days" (
	"organisation_id" uuid NOT NULL,
	"meter" text NOT NULL,
	"day" date NOT NULL,
	"used" bigint NOT NULL,
	CONSTRAINT "usage_days_organisation_id_meter_day_pk" PRIMARY KEY("organisation_id","meter","day")
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
ALTER TABLE "usage" ADD COLUMN "day" date DEFAULT '1970-01-01' NOT NULL;--> statement-breakpoint
ALTER TABLE "usage" ADD COLUMN "day_used" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "usage" ADD COLUMN "granted" boolean DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE "usage" ADD COLUMN "set_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "usage_days" ADD CONSTRAINT "usage_days_organisation_id_organisations_id_fk" FOREIGN KEY ("organisation_id") REFERENCES "public"."organisations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "usage_days_day" ON "usage_days" USING btree ("day");--> statement-breakpoint
CREATE INDEX "usage_requests_at" ON "usage_requests" USING btree ("at");