-- Whether a user may get another session and keep the browser, without one that must end for it. It is volatile, so it
-- sees what was committed before the call: a statement that has waited for the user's row sees the sign-ins before it.
create function has_room_for_session(of_user uuid, at_time timestamptz, browser text, most_sessions integer, most_browsers integer)
returns boolean language plpgsql volatile as $$
begin
  return (select count(*) < most_sessions and coalesce(bool_and(expires_at > at_time), true)
      from sessions where user_id = of_user)
    and (select count(*) < most_browsers from known_browsers where user_id = of_user and token_hash <> browser);
end $$;
