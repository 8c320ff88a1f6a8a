import { sql } from 'kysely';
import type { Db } from '../connect.ts';

const AT_ONCE = 2_000;

/**
 * Fills in the project of the deliveries that were made before migration 0042, beside a running service. It need not be done
 * again once it has come to its end: later deliveries are made with their project.
 */
export async function fillDeliveryProjects(db: Db): Promise<void> {
  let after: string | undefined = '00000000-0000-0000-0000-000000000000';
  while (after !== undefined) {
    const { rows }: { rows: { id: string }[] } = await sql<{ id: string }>`
      with page as materialized (
        select id, execution_id from webhook_delivery
        where id > ${after} and project_id is null and execution_id is not null
        order by id limit ${AT_ONCE} for no key update
      ), filled as (
        update webhook_delivery set project_id = run.project_id
        from page join run on run.execution_id = page.execution_id
        where webhook_delivery.id = page.id
      )
      select id from page order by id desc limit 1`.execute(db);
    after = rows[0]?.id;
  }
}
