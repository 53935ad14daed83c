CREATE TABLE "trial_claims" (
	"hash" text PRIMARY KEY NOT NULL,
	"organisation" text NOT NULL,
	"claimed_at" timestamp with time zone NOT NULL
);
