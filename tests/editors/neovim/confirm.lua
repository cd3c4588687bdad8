-- JAX's verdict, asked for in the way that PALLAS_WAY says: by the menu, the lens or the README's command.
local t = require('support')

local ways = {
  menu = function()
    t.menu(function(title)
      return title == 'Confirm with JAX'
    end)
  end,
  lens = function()
    vim.lsp.codelens.refresh({ bufnr = 0 })
    local lens = t.until_('a lens', function()
      return vim.lsp.codelens.get(0)[1]
    end)
    vim.api.nvim_win_set_cursor(0, { lens.range.start.line + 1, 0 })
    vim.lsp.codelens.run()
  end,
  command = function()
    vim.cmd('PallasConfirm')
  end,
}

t.run(function()
  local progress = {}
  vim.api.nvim_create_autocmd('LspProgress', {
    callback = function(event)
      table.insert(progress, event.data.params.value)
    end,
  })
  t.go_to(t.findings()[1])
  ways[vim.env.PALLAS_WAY]()
  local verdict = t.until_('the verdict', function()
    return t.shown('pallas confirm')[1]
  end)
  local said = t.until_('the message', function()
    local messages = vim.fn.execute('messages')
    return messages:find('JAX refuses', 1, true) and messages
  end)
  t.until_('the end of the progress', function()
    return progress[#progress] and progress[#progress].kind == 'end'
  end)
  return { verdict = verdict, said = said, progress = progress, line = vim.fn.getline(verdict.lnum + 1) }
end)
