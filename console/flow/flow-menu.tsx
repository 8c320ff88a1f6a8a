import { Ellipsis } from 'lucide-react';
import { useState } from 'react';
import { IconButton } from '../ui/icon-button.tsx';
import { Menu, MenuItem } from '../ui/menu.tsx';
import { DeleteFlowDialog } from './delete-flow-dialog.tsx';
import { EditFlowDialog } from './edit-flow-dialog.tsx';

/** The menu of a flow: name and description, delete. */
export function FlowMenu() {
  const [opened, setOpened] = useState<'edit' | 'delete'>();
  const close = () => setOpened(undefined);
  return (
    <>
      <Menu
        label="Flow"
        trigger={
          <IconButton label="More about this flow">
            <Ellipsis size={16} />
          </IconButton>
        }
      >
        <MenuItem onAction={() => setOpened('edit')}>Name and description</MenuItem>
        <MenuItem tone="danger" onAction={() => setOpened('delete')}>
          Delete flow
        </MenuItem>
      </Menu>
      {opened === 'edit' && <EditFlowDialog onClose={close} />}
      {opened === 'delete' && <DeleteFlowDialog onClose={close} />}
    </>
  );
}
