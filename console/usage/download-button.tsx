import { useMutation } from '@tanstack/react-query';
import { api } from '../api/client.ts';
import type { MyOrganization } from '../shell/me.ts';
import { Button } from '../ui/button.tsx';
import { saveFile } from '../ui/save-file.ts';
import type { Division } from './search.ts';
import { toCsv } from './to-csv.ts';
import { COLUMNS, type Entry, nameEntry } from './usage-columns.ts';

type Props = {
  organization: MyOrganization;
  wanted: { from: string; to: string; project_id?: string };
  by: Division;
};

/** Downloads the table, with all of its pages, as CSV. */
export function DownloadButton({ organization, wanted, by }: Props) {
  const download = useMutation({
    async mutationFn() {
      const entries: Entry[] = [];
      let cursor: string | null | undefined;
      do {
        const { data } = await api.GET('/api/v1/organizations/{org_id}/usage', {
          params: {
            path: { org_id: organization.id },
            query: { ...wanted, by, limit: 200, ...(cursor && { cursor }) },
          },
        });
        entries.push(...(data?.entries ?? []));
        cursor = data?.nextCursor;
      } while (cursor);
      const rows = entries.map((entry) => [
        nameEntry(entry, by),
        ...COLUMNS.map((column) => column.value(entry)),
      ]);
      const csv = toCsv([by, ...COLUMNS.map(({ name }) => name)], rows);
      saveFile(
        new Blob([csv], { type: 'text/csv' }),
        `weir-${organization.slug}-usage-by-${by}-${wanted.from}-${wanted.to}.csv`,
      );
    },
  });
  return (
    <Button isPending={download.isPending} onPress={() => download.mutate()}>
      Download CSV
    </Button>
  );
}
