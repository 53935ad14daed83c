CREATE TABLE "plan_overrides" (
	"organisation_id" uuid PRIMARY KEY NOT NULL,
	"tier" text,
	"agreed" jsonb NOT NULL,
	"reason" text NOT NULL,
	"set_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "organisation_plans" ADD COLUMN "agreed" jsonb;--> statement-breakpoint
ALTER TABLE "plan_overrides" ADD CONSTRAINT "plan_overrides_organisation_id_organisations_id_fk" FOREIGN KEY ("organisation_id") REFERENCES "public"."organisations"("id") ON DELETE cascade ON UPDATE no action;