import { useState } from 'react';
import { Button } from '../ui/button.tsx';
import { PublishDialog } from './publish-dialog.tsx';

/** Opens the dialog that publishes the draft. */
export function PublishButton() {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button variant="primary" onPress={() => setOpen(true)}>
        Publish
      </Button>
      {isOpen && <PublishDialog onClose={() => setOpen(false)} />}
    </>
  );
}
