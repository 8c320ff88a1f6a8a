import { type Kysely, sql } from 'kysely';

/** Turns of deliveries at their destinations: who has one, and who waits. */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  // The unique index on the same column does.
  `drop index webhook_delivery_by_run`,
  // held_until: null for one that waits. has_workflow: a workflow waits to be told.
  `create table webhook_turn (
    delivery_id uuid not null references webhook_delivery (id) on delete cascade,
    round integer not null,
    organization_id uuid not null,
    host text not null,
    since timestamptz not null default clock_timestamp(),
    held_until timestamptz,
    has_workflow boolean not null,
    primary key (delivery_id, round)
  )`,
  `create index webhook_turn_held_at_host on webhook_turn (host) where held_until is not null`,
  `create index webhook_turn_held_by_organization on webhook_turn (organization_id) where held_until is not null`,
  `create index webhook_turn_waiting_at_host on webhook_turn (host, organization_id, since) where held_until is null`,
  `create index webhook_turn_waiting_of_organization on webhook_turn (organization_id, host) where held_until is null`,

  // A turn whose holder died lapses by itself. What happens at two hosts at the same moment is not seen by both: an
  // organization may for that moment have some more than organization_max.
  `create function has_webhook_room(
    the_host text, the_organization uuid, pair_max integer, host_max integer, organization_max integer
  ) returns boolean language plpgsql as $$
    begin
      return (
        select count(*) < host_max and count(*) filter (where organization_id = the_organization) < pair_max
        from webhook_turn where host = the_host and held_until > clock_timestamp()
      ) and organization_max > (
        select count(*) from webhook_turn
        where organization_id = the_organization and held_until > clock_timestamp()
      );
    end $$`,

  // check_at finds again the rows that a crash of the database loses, so nobody waits for the disk. It locks nothing
  // but the host, so that it waits for no other transaction.
  `create function take_webhook_turn(
    the_delivery uuid, the_round integer, the_organization uuid, the_host text, is_workflow boolean, hold interval,
    pair_max integer, host_max integer, organization_max integer
  ) returns boolean language plpgsql as $$
    declare
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
      has_room := has_webhook_room(the_host, the_organization, pair_max, host_max, organization_max);
      insert into webhook_turn (delivery_id, round, organization_id, host, held_until, has_workflow)
        values (the_delivery, the_round, the_organization, the_host,
          case when has_room then clock_timestamp() + hold end, is_workflow)
        on conflict (delivery_id, round) do update
          set held_until = excluded.held_until, has_workflow = webhook_turn.has_workflow or is_workflow;
      return has_room;
    end $$`,

  // The places that may have become free: the next host at which the organization waits, and whether anybody waits at this one.
  `create function end_webhook_turn(
    the_delivery uuid, the_round integer, the_organization uuid, the_host text
  ) returns table (next_host text, waits_here boolean) language plpgsql as $$
    begin
      perform set_config('synchronous_commit', 'off', true);
      perform pg_advisory_xact_lock(hashtextextended('webhook_turn ' || the_host, 0));
      delete from webhook_turn where delivery_id = the_delivery and round = the_round;
      next_host := coalesce(
        (select host from webhook_turn
          where organization_id = the_organization and held_until is null and host > the_host
          order by host limit 1),
        (select host from webhook_turn
          where organization_id = the_organization and held_until is null and host < the_host
          order by host limit 1)
      );
      waits_here := exists (select from webhook_turn where host = the_host and held_until is null);
      return next;
    end $$`,

  // From organization to organization, beginning after the one that had the turn before. What needs none any more is
  // answered too, as not open, for a workflow may wait for it.
  `create function give_webhook_turns(
    the_host text, after_organization uuid, at_most integer, hold interval,
    pair_max integer, host_max integer, organization_max integer
  ) returns table (given_delivery uuid, given_round integer, waits_in_workflow boolean, is_open boolean)
  language plpgsql as $$
    declare
      turn record;
      previous uuid := after_organization;
      given integer := 0;
      given_before_round integer;
    begin
      perform set_config('synchronous_commit', 'off', true);
      perform pg_advisory_xact_lock(hashtextextended('webhook_turn ' || the_host, 0));
      for tried in 1 .. 200 loop
        exit when given >= at_most or host_max <=
          (select count(*) from webhook_turn where host = the_host and held_until > clock_timestamp());
        select * into turn from webhook_turn
          where host = the_host and held_until is null and organization_id > previous
          order by organization_id, since limit 1;
        if not found then
          exit when given = given_before_round;
          given_before_round := given;
          previous := '00000000-0000-0000-0000-000000000000';
          continue;
        end if;
        given_delivery := turn.delivery_id;
        given_round := turn.round;
        waits_in_workflow := turn.has_workflow;
        is_open := exists (
          select from webhook_delivery
          where id = given_delivery and webhook_delivery.round = given_round
            and status in ('pending', 'in_flight', 'failed_retry')
        );
        if is_open then
          previous := turn.organization_id;
          continue when
            not has_webhook_room(the_host, turn.organization_id, pair_max, host_max, organization_max);
          given := given + 1;
          update webhook_turn set held_until = clock_timestamp() + hold
            where delivery_id = given_delivery and webhook_turn.round = given_round;
        else
          delete from webhook_turn where delivery_id = given_delivery and webhook_turn.round = given_round;
        end if;
        return next;
      end loop;
    end $$`,
];
