import { type Kysely, sql } from 'kysely';

/** A delivery takes no turn at its destination while others wait there that come before it and may begin. */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  // It may exist: databases of before the first release may have this migration under an earlier number.
  // Within an organization, whoever has waited longer comes before; of others, whoever waits. Those that may not begin hold up
  // nobody. It looks at as many organizations as give_webhook_turns does.
  `create or replace function has_webhook_turn_before(
    the_delivery uuid, the_round integer, the_organization uuid, the_host text,
    pair_max integer, host_max integer, organization_max integer
  ) returns boolean language plpgsql as $$
    declare
      other uuid := '00000000-0000-0000-0000-000000000000';
      waits_since constant timestamptz :=
        (select since from webhook_turn where delivery_id = the_delivery and round = the_round);
    begin
      for tried in 1 .. 200 loop
        select organization_id into other from webhook_turn
          where host = the_host and held_until is null and organization_id > other
          order by organization_id limit 1;
        exit when not found;
        if other = the_organization then
          if exists (
            select from webhook_turn
            where host = the_host and held_until is null and organization_id = the_organization
              and (delivery_id, round) <> (the_delivery, the_round) and (waits_since is null or since < waits_since)
          ) then
            return true;
          end if;
        elsif has_webhook_room(the_host, other, pair_max, host_max, organization_max) then
          return true;
        end if;
      end loop;
      return false;
    end $$`,

  // A place is left free here when its holder died, or in the moment before whoever left it gives it to the next: workers are
  // told to give it. A delivery that was given its turn long ago keeps it while there is room and the turn has not lapsed.
  `create or replace function take_webhook_turn(
    the_delivery uuid, the_round integer, the_organization uuid, the_host text, is_workflow boolean, hold interval,
    pair_max integer, host_max integer, organization_max integer
  ) returns boolean language plpgsql as $$
    declare
      was_given boolean;
      has_room boolean;
    begin
      if exists (
        select from webhook_turn
        where delivery_id = the_delivery and round = the_round and held_until > clock_timestamp() + hold / 2
      ) then
        return true;
      end if;
      perform set_config('synchronous_commit', 'off', true);
      perform pg_advisory_xact_lock(hashtextextended('webhook_turn ' || the_host, 0));
      delete from webhook_turn
        where delivery_id = the_delivery and round = the_round and held_until is not null;
      was_given := found;
      has_room := has_webhook_room(the_host, the_organization, pair_max, host_max, organization_max);
      if has_room and not was_given and has_webhook_turn_before(
        the_delivery, the_round, the_organization, the_host, pair_max, host_max, organization_max
      ) then
        has_room := false;
        perform pg_notify('weir_delivery_waits', the_host);
      end if;
      insert into webhook_turn (delivery_id, round, organization_id, host, held_until, has_workflow)
        values (the_delivery, the_round, the_organization, the_host,
          case when has_room then clock_timestamp() + hold end, is_workflow)
        on conflict (delivery_id, round) do update
          set held_until = excluded.held_until, has_workflow = webhook_turn.has_workflow or is_workflow;
      return has_room;
    end $$`,
];
