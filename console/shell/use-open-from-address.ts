import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useEffectEvent } from 'react';

/**
 * Calls `open` when the address says `?open=<name>`, as those of the palette's actions do, and takes that out of the address:
 * a reload opens nothing again.
 */
export function useOpenFromAddress(name: string, open: () => void): void {
  const { open: asked } = useSearch({ strict: false }) as { open?: unknown };
  const navigate = useNavigate();
  const onAsked = useEffectEvent(() => {
    open();
    void navigate({
      to: '.',
      search: ((search: object) => ({ ...search, open: undefined })) as never,
      replace: true,
    });
  });
  useEffect(() => {
    if (asked === name) onAsked();
  }, [asked, name]);
}
