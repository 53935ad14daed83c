CREATE TABLE "erasures" (
	"id" uuid PRIMARY KEY NOT NULL,
	"user_id" uuid,
	"texts" text[] NOT NULL,
	"organisation_ids" uuid[] NOT NULL,
	"deleted_ids" uuid[] NOT NULL,
	"last_created" bigint,
	"last_event_id" text,
	"requested_at" timestamp with time zone NOT NULL
);
